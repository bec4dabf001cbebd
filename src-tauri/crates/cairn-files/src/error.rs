//! What can go wrong with a file, in sentences a model or a person can act on.

use rustix::io::Errno;

/// Why a file could not be found, read or changed. Nothing was changed when one of these comes back.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// The model gave no path; it gives one.
    #[error("the path is empty: give a path relative to the project folder")]
    EmptyPath,
    /// No file can have such a name; the model gives another.
    #[error("the path holds a NUL character, which no file name can: give the path without it")]
    Nul,
    /// Longer than file systems take; the model gives a shorter one.
    #[error(
        "the path or one of its names is too long ({length} bytes): a path has at most 4,095 bytes, a name 255"
    )]
    TooLong {
        /// Bytes it had.
        length: usize,
    },
    /// The model gave a URL; it gives the path.
    #[error("`{0}` is a URL: give the path of the file instead")]
    Url(String),
    /// Kernel and device files are never opened; nobody recovers.
    #[error("{0} is not a project file: paths in /proc and /dev are refused")]
    Refused(String),
    /// It is not there; the model looks for the right name.
    #[error("{0} does not exist")]
    Missing(String),
    /// Something else than a regular file; the model takes another tool or file.
    #[error("{shown} is {what}, not a file")]
    NotAFile {
        /// The path as shown.
        shown: String,
        /// What it is, with its article.
        what: &'static str,
    },
    /// A part of the path before its end is not a folder; the model mends the path.
    #[error("{0} is not a folder")]
    NotAFolder(String),
    /// Links that lead to each other; the person mends them.
    #[error("{0} leads through too many links: they form a loop")]
    LinkLoop(String),
    /// A folder on the way turned into a link, or was replaced, while the call ran; the model tries again.
    #[error(
        "a folder on the way to {0} was replaced while it was being opened; nothing was read or written. Try again"
    )]
    Swapped(String),
    /// The project folder is gone or another one took its place; the person opens it anew.
    #[error(
        "the project folder {0} was moved or replaced since it was opened; nothing was read or written. Open the project again"
    )]
    RootGone(String),
    /// More than this operation takes; the model works on a part.
    #[error("{shown} has {size} bytes, more than the {limit} this can take at once")]
    TooLarge {
        /// The path as shown.
        shown: String,
        /// Its size, bytes.
        size: u64,
        /// The limit, bytes.
        limit: u64,
    },
    /// It must not be written; the person changes its mode.
    #[error("{0} is read-only: ask the user to make it writable, or leave it as it is")]
    ReadOnly(String),
    /// Its content is not what it was when the change was made up; the model reads it again.
    #[error(
        "{0} was changed by something else meanwhile; that change was kept and nothing was written. Read it again"
    )]
    Changed(String),
    /// It was to be new but is there; the model reads it first.
    #[error(
        "{0} was created by something else meanwhile; it was kept and nothing was written. Read it first"
    )]
    Appeared(String),
    /// The disk is full; the person makes room.
    #[error("no space left on the disk for {0}; the file is as it was. Free some space, then try again")]
    NoSpace(String),
    /// No rights; the person grants them.
    #[error("no permission to {doing} {shown}")]
    Denied {
        /// What was tried, like `read`.
        doing: &'static str,
        /// The path as shown.
        shown: String,
    },
    /// Anything else that the system says.
    #[error("could not {doing} {shown}: {reason}")]
    Io {
        /// What was tried, like `read`.
        doing: &'static str,
        /// The path as shown.
        shown: String,
        /// The system's words.
        reason: String,
    },
}

impl FileError {
    /// What an error of the system means for that path.
    pub(crate) fn from_errno(doing: &'static str, shown: &str, errno: Errno) -> Self {
        let shown = shown.to_owned();
        match errno {
            Errno::NOENT => Self::Missing(shown),
            Errno::ACCESS | Errno::PERM => Self::Denied { doing, shown },
            Errno::NOSPC | Errno::DQUOT | Errno::FBIG => Self::NoSpace(shown),
            Errno::ROFS => Self::ReadOnly(shown),
            Errno::NAMETOOLONG => Self::TooLong { length: shown.len() },
            // The paths that are opened hold no links, so one that is met has just been put there.
            Errno::LOOP | Errno::XDEV => Self::Swapped(shown),
            Errno::NOTDIR => Self::NotAFolder(shown),
            Errno::ISDIR => Self::NotAFile {
                shown,
                what: "a folder",
            },
            Errno::BUSY => Self::Io {
                doing,
                shown,
                reason: "it is in use, or another file system is mounted there".to_owned(),
            },
            other => Self::Io {
                doing,
                shown,
                reason: std::io::Error::from(other).to_string(),
            },
        }
    }

    /// The same for an error of the standard library.
    pub(crate) fn from_io(doing: &'static str, shown: &str, error: &std::io::Error) -> Self {
        match Errno::from_io_error(error) {
            Some(errno) => Self::from_errno(doing, shown, errno),
            None => Self::Io {
                doing,
                shown: shown.to_owned(),
                reason: error.to_string(),
            },
        }
    }
}
