//! Where Cairn keeps its things. SPEC A5.

use std::path::{Path, PathBuf};

use cairn_protocol::{ApiError, ErrorCode, ProjectKey};

use crate::environment::Environment;
use crate::files;

/// Cairn's own folders. `CAIRN_HOME` moves all of them under one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    config: PathBuf,
    data: PathBuf,
    state: PathBuf,
}

impl Home {
    /// Finds the folders; makes none of them.
    pub fn locate(environment: &Environment) -> Result<Self, ApiError> {
        if let Some(all) = environment.get("CAIRN_HOME") {
            let all = PathBuf::from(all);
            if !all.is_absolute() {
                let text = format!("CAIRN_HOME is `{}`: it must be an absolute path.", all.display());
                return Err(ApiError::new(ErrorCode::BadConfig, text));
            }
            return Ok(Self {
                config: all.clone(),
                data: all.clone(),
                state: all,
            });
        }
        let home = environment.home().ok_or_else(|| {
            let text =
                "Neither CAIRN_HOME nor HOME is set: there is no place for Cairn's data. Set one of them.";
            ApiError::new(ErrorCode::BadConfig, text)
        })?;
        if cfg!(target_os = "macos") {
            let all = home.join("Library/Application Support/Cairn");
            return Ok(Self {
                config: all.clone(),
                data: all.clone(),
                state: all,
            });
        }
        if cfg!(windows) {
            let all = environment.folder("APPDATA").unwrap_or(home).join("Cairn");
            return Ok(Self {
                config: all.clone(),
                data: all.clone(),
                state: all,
            });
        }
        let xdg = |name: &str, usual: &str| {
            environment
                .folder(name)
                .unwrap_or_else(|| home.join(usual))
                .join("cairn")
        };
        Ok(Self {
            config: xdg("XDG_CONFIG_HOME", ".config"),
            data: xdg("XDG_DATA_HOME", ".local/share"),
            state: xdg("XDG_STATE_HOME", ".local/state"),
        })
    }

    /// `config.toml`.
    pub fn config_file(&self) -> PathBuf {
        self.config.join("config.toml")
    }

    /// Folder of `config.toml` and of global instructions.
    pub fn config_folder(&self) -> &Path {
        &self.config
    }

    /// Database and blobs.
    pub fn data(&self) -> PathBuf {
        self.data.join("data")
    }

    /// Files with keys, by consent only.
    pub fn keys(&self) -> PathBuf {
        self.data.join("keys")
    }

    /// What is kept for one project outside of it.
    pub fn project(&self, key: &ProjectKey) -> PathBuf {
        self.data.join("projects").join(key.as_str())
    }

    /// The sample project of the demo.
    pub fn sample(&self) -> PathBuf {
        self.data.join("sample").join("tidewater")
    }

    /// Log files.
    pub fn logs(&self) -> PathBuf {
        self.state.join("logs")
    }

    /// All of Cairn's own folders, as real paths where they exist: files in them are protected.
    pub fn own_folders(&self) -> Vec<PathBuf> {
        let mut own = vec![
            self.config.clone(),
            self.data(),
            self.keys(),
            self.data.join("projects"),
            self.logs(),
        ];
        for folder in &mut own {
            if let Ok(real) = folder.canonicalize() {
                *folder = real;
            }
        }
        own.sort();
        own.dedup();
        own
    }

    /// Makes the folders, for the user alone.
    pub fn make(&self) -> Result<(), ApiError> {
        for folder in [&self.config, &self.data, &self.state] {
            files::make_private_folder(folder)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(pairs: &[(&str, &str)]) -> Environment {
        Environment::new(
            pairs
                .iter()
                .map(|(name, value)| ((*name).into(), (*value).into())),
        )
    }

    #[test]
    fn a5_cairn_home_moves_everything_under_one_folder() {
        let home = Home::locate(&environment(&[("CAIRN_HOME", "/x/c"), ("HOME", "/h")])).unwrap();
        assert_eq!(home.config_file(), PathBuf::from("/x/c/config.toml"));
        assert_eq!(home.data(), PathBuf::from("/x/c/data"));
        assert_eq!(home.project(&"k".into()), PathBuf::from("/x/c/projects/k"));
        assert_eq!(home.logs(), PathBuf::from("/x/c/logs"));
    }

    #[test]
    fn a_relative_or_missing_home_is_a_plain_error() {
        assert_eq!(
            Home::locate(&environment(&[("CAIRN_HOME", "x")]))
                .unwrap_err()
                .code,
            ErrorCode::BadConfig
        );
        assert!(
            Home::locate(&environment(&[]))
                .unwrap_err()
                .message
                .contains("HOME")
        );
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn without_it_the_platforms_own_folders_are_used() {
        let home = Home::locate(&environment(&[("HOME", "/h"), ("XDG_DATA_HOME", "/d")])).unwrap();
        assert_eq!(home.config_file(), PathBuf::from("/h/.config/cairn/config.toml"));
        assert_eq!(home.data(), PathBuf::from("/d/cairn/data"));
        assert_eq!(home.logs(), PathBuf::from("/h/.local/state/cairn/logs"));
    }
}
