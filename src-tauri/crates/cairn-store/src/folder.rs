//! Folders and files that only their owner may enter or read. SPEC A5.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::path::Path;

/// Makes the folder and its missing parents, each 0700; an existing folder of ours is tightened to 0700.
pub(crate) fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)?;
    tighten(folder, 0o700)
}

/// Options that create a new file with mode 0600 and fail where one is.
pub(crate) fn new_private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Takes away what group and others may do.
#[cfg(unix)]
pub(crate) fn tighten(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;

    let found = fs::metadata(path)?.permissions().mode();
    let others = found & 0o077;
    if others == 0 {
        return Ok(());
    }
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

/// Takes away what group and others may do: the profile folder of the user is private already.
#[cfg(not(unix))]
pub(crate) fn tighten(_path: &Path, _mode: u32) -> io::Result<()> {
    Ok(())
}

/// Makes names that were just put into the folder survive loss of power.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) {
        File::open(folder)?.sync_all()
    } else {
        Ok(())
    }
}

/// Length of a file; none when it is not there.
pub(crate) fn length(path: &Path) -> Option<u64> {
    fs::metadata(path).ok().map(|found| found.len())
}
