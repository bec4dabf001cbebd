//! The system calls that are not the same everywhere, behind one face.

use std::ffi::OsStr;
use std::path::{Component, Path};

use rustix::fd::{BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// How a path is opened beneath a handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpenWay {
    /// `openat2`: the kernel refuses links on the way.
    Kernel,
    /// One component after the other, each without following a link. For kernels before 5.6 and other systems.
    Walk,
}

/// Opens a folder only to reach what is in it.
#[cfg(target_os = "linux")]
pub(crate) const REACH: OFlags = OFlags::PATH;
/// Opens a folder only to reach what is in it.
#[cfg(not(target_os = "linux"))]
pub(crate) const REACH: OFlags = OFlags::RDONLY;

/// Opens `path` (relative, only plain names) beneath `base`; a link anywhere on the way is an error.
///
/// With `O_PATH | O_NOFOLLOW` the last name may be a link; the handle is then of the link itself.
pub(crate) fn open_beneath(
    base: BorrowedFd<'_>,
    path: &Path,
    flags: OFlags,
    mode: Mode,
    way: OpenWay,
) -> Result<OwnedFd, Errno> {
    let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    match way {
        OpenWay::Kernel => open_by_kernel(base, path, flags, mode),
        OpenWay::Walk => open_by_walk(base, path, flags, mode),
    }
}

#[cfg(target_os = "linux")]
fn open_by_kernel(base: BorrowedFd<'_>, path: &Path, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
    use rustix::fs::{ResolveFlags, openat2};
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_SYMLINKS;
    let path = if path.as_os_str().is_empty() {
        Path::new(".")
    } else {
        path
    };
    // EAGAIN: something was renamed while the kernel walked; it asks for another try.
    for _ in 0..16 {
        match openat2(base, path, flags, mode, resolve) {
            Err(Errno::AGAIN) => {}
            // Before 5.6, or forbidden by a filter that does not know the call.
            Err(Errno::NOSYS) => return open_by_walk(base, path, flags, mode),
            other => return other,
        }
    }
    Err(Errno::AGAIN)
}

#[cfg(not(target_os = "linux"))]
fn open_by_kernel(base: BorrowedFd<'_>, path: &Path, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
    open_by_walk(base, path, flags, mode)
}

fn open_by_walk(base: BorrowedFd<'_>, path: &Path, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
    let names: Vec<&OsStr> = path
        .components()
        .filter_map(|part| match part {
            Component::CurDir => None,
            Component::Normal(name) => Some(Ok(name)),
            _ => Some(Err(Errno::XDEV)),
        })
        .collect::<Result<_, _>>()?;
    let Some((last, folders)) = names.split_last() else {
        return rustix::fs::openat(base, ".", flags, mode);
    };
    let through = REACH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut held: Option<OwnedFd> = None;
    for name in folders {
        let from = held.as_ref().map_or(base, std::os::fd::AsFd::as_fd);
        // A link here says ENOTDIR or ELOOP: either way the walk ends.
        held = Some(rustix::fs::openat(from, *name, through, Mode::empty())?);
    }
    let from = held.as_ref().map_or(base, std::os::fd::AsFd::as_fd);
    rustix::fs::openat(from, *last, flags, mode)
}
