//! Cairn's own small files: private folders, whole or not at all.

use std::fs;
use std::io::{self, Read as _, Write};
use std::path::Path;

use cairn_protocol::{ApiError, ErrorCode};

/// Makes a folder and its parents; the folder itself is for the user alone (0700).
pub(crate) fn make_private_folder(folder: &Path) -> Result<(), ApiError> {
    make(folder).map_err(|error| failed("make the folder", folder, &error))
}

#[cfg(unix)]
fn make(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
    if !folder.is_dir() {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    if fs::metadata(folder)?.permissions().mode() & 0o077 != 0 {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn make(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}

/// Opens a file for reading without waiting for anything: a FIFO would make everybody wait for its other end.
pub(crate) fn open_at_once(path: &Path) -> io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    }
    options.open(path)
}

/// Opens a file to write at its end, for the user alone (0600), whatever it was before.
pub(crate) fn append_private(path: &Path) -> io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        if file.metadata()?.permissions().mode() & 0o077 != 0 {
            file.set_permissions(fs::Permissions::from_mode(0o600))?;
        }
    }
    Ok(file)
}

/// Text of one of our own small files; none when it is not there.
///
/// The error says in a few words what is in the way: it is no regular file, larger than `most` bytes, not readable or no
/// text. A FIFO is never waited for.
pub(crate) fn read_small(path: &Path, most: u64) -> Result<Option<String>, String> {
    let file = match open_at_once(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(plain(&error)),
    };
    let kind = file.metadata().map_err(|error| plain(&error))?;
    if !kind.is_file() {
        return Err("this is not a regular file".to_owned());
    }
    let mut text = String::new();
    // It may grow while it is read.
    let read = file.take(most + 1).read_to_string(&mut text);
    match read {
        Ok(bytes) if bytes as u64 > most => Err(format!("the file is larger than {most} bytes")),
        Ok(_) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            Err("the file is not UTF-8 text".to_owned())
        }
        Err(error) => Err(plain(&error)),
    }
}

/// Writes a file for the user alone (0600): the old one stays whole until the new one is.
pub(crate) fn write_private(path: &Path, text: &str) -> Result<(), ApiError> {
    write_whole(path, text, Sync::Yes)
}

/// The same without waiting for the disk: survives the end of the program, not of the machine.
pub(crate) fn write_private_unsynced(path: &Path, text: &str) -> Result<(), ApiError> {
    write_whole(path, text, Sync::No)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sync {
    Yes,
    No,
}

fn write_whole(path: &Path, text: &str, sync: Sync) -> Result<(), ApiError> {
    let write = || -> io::Result<()> {
        let folder = path.parent().unwrap_or_else(|| Path::new("/"));
        make(folder)?;
        let mut file = tempfile(folder, path)?;
        file.1.write_all(text.as_bytes())?;
        if sync == Sync::Yes {
            file.1.sync_all()?;
        }
        let renamed = fs::rename(&file.0, path);
        if renamed.is_err() {
            fs::remove_file(&file.0)?;
        }
        renamed
    };
    write().map_err(|error| failed("write", path, &error))
}

fn tempfile(folder: &Path, path: &Path) -> io::Result<(std::path::PathBuf, fs::File)> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    for number in 0..100 {
        let temporary = folder.join(format!(".{name}.{}-{number}.tmp", std::process::id()));
        match options.open(&temporary) {
            Ok(file) => return Ok((temporary, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("a hundred temporary files are in the way"))
}

/// A failure of the file system in words, with what to do.
pub(crate) fn failed(what: &str, path: &Path, error: &io::Error) -> ApiError {
    let (code, advice) = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            (ErrorCode::DiskFull, "Make room on that disk, then try again.")
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => (
            ErrorCode::Storage,
            "Check its permissions, or set CAIRN_HOME to a folder that can be written.",
        ),
        _ => (ErrorCode::Storage, "Check the path and try again."),
    };
    ApiError::new(
        code,
        format!("Could not {what} {}: {}. {advice}", path.display(), plain(error)),
    )
}

/// The system's words without the number behind them.
pub(crate) fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    match text.rsplit_once(" (os error") {
        Some((words, _)) => words.to_lowercase(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn files_and_folders_are_for_the_user_alone() {
        use std::os::unix::fs::PermissionsExt;
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("a/b/file.toml");
        write_private(&path, "x = 1\n").unwrap();
        write_private(&path, "x = 2\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "x = 2\n");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
        assert_eq!(
            fs::read_dir(path.parent().unwrap()).unwrap().count(),
            1,
            "no temporary file stays"
        );
    }

    #[test]
    #[cfg(unix)]
    fn l01_a_link_in_the_place_of_a_temporary_file_is_never_followed() {
        let temp = tempfile::tempdir().unwrap();
        let (victim, path) = (temp.path().join("victim"), temp.path().join("own/file.toml"));
        fs::write(&victim, "theirs").unwrap();
        make_private_folder(&temp.path().join("own")).unwrap();
        let plant = |number: u32| {
            let name = format!(".file.toml.{}-{number}.tmp", std::process::id());
            std::os::unix::fs::symlink(&victim, temp.path().join("own").join(name)).unwrap();
        };
        (0..3).for_each(plant);
        write_private(&path, "ours").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "ours");
        (3..100).for_each(plant);
        assert!(
            write_private(&path, "more").is_err(),
            "it fails rather than follows one"
        );
        assert_eq!(fs::read_to_string(&path).unwrap(), "ours");
        assert_eq!(fs::read_to_string(&victim).unwrap(), "theirs");
    }

    #[test]
    fn a_full_disk_and_a_locked_folder_say_what_to_do() {
        let full = failed(
            "write",
            Path::new("/x"),
            &io::Error::from(io::ErrorKind::StorageFull),
        );
        assert!(
            full.code == ErrorCode::DiskFull && full.message.contains("Make room"),
            "{full}"
        );
        let locked = failed("write", Path::new("/x"), &io::Error::from_raw_os_error(13));
        assert!(
            locked
                .message
                .contains("permission denied. Check its permissions"),
            "{locked}"
        );
    }
}
