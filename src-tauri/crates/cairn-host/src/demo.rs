//! The sample project of the demo, copied into the data folder. SPEC A8.

use std::path::PathBuf;

use cairn_protocol::ApiError;

use crate::files;
use crate::home::Home;

/// Makes the sample project anew and gives its folder: the tour always starts from the same files.
pub fn sample_project(home: &Home) -> Result<PathBuf, ApiError> {
    let folder = home.sample();
    files::make_private_folder(&folder)?;
    for (name, bytes) in cairn_models::demo::sample() {
        let path = folder.join(name);
        if std::fs::read(&path).is_ok_and(|there| there == *bytes) {
            continue;
        }
        let written = path
            .parent()
            .map_or(Ok(()), std::fs::create_dir_all)
            .and_then(|()| std::fs::write(&path, bytes));
        written.map_err(|error| files::failed("write", &path, &error))?;
    }
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::Environment;

    #[test]
    fn the_sample_is_made_anew_each_time() {
        let temp = tempfile::tempdir().unwrap();
        let home = Home::locate(&Environment::new([("CAIRN_HOME".into(), temp.path().into())])).unwrap();
        let folder = sample_project(&home).unwrap();
        let (name, bytes) = cairn_models::demo::sample()[0];
        std::fs::write(folder.join(name), "changed by the tour").unwrap();
        assert_eq!(sample_project(&home).unwrap(), folder);
        assert_eq!(std::fs::read(folder.join(name)).unwrap(), bytes);
    }
}
