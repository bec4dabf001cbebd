//! Failures on their way out: from SQLite's and the system's words to [`StoreError`], always with a path.

use std::io;
use std::path::Path;

use cairn_agent::store::StoreError;
use rusqlite::ffi;

/// A failure inside a read or a write, before it is known which file it belongs to.
#[derive(Debug)]
pub(crate) enum Fault {
    /// SQLite failed.
    Sql(rusqlite::Error),
    /// The request made no sense for what is stored.
    Refused(StoreError),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Refused(error)
    }
}

impl Fault {
    /// The failure as everybody else sees it; `path` is the database.
    pub(crate) fn at(self, path: &Path) -> StoreError {
        match self {
            Self::Sql(error) => from_sql(&error, path),
            Self::Refused(error) => error,
        }
    }
}

/// SQLite's failure with the database's path.
pub(crate) fn from_sql(error: &rusqlite::Error, path: &Path) -> StoreError {
    use rusqlite::ErrorCode as Code;

    let shown = path.display();
    let Some(inner) = error.sqlite_error() else {
        return StoreError::Database(format!("{shown}: {error}"));
    };
    // A full disk meets the shared-memory file first, where SQLite calls it an input/output error.
    if inner.extended_code == ffi::SQLITE_IOERR_SHMSIZE {
        return StoreError::Full(shown.to_string());
    }
    match inner.code {
        Code::DiskFull => StoreError::Full(shown.to_string()),
        Code::ReadOnly | Code::CannotOpen | Code::PermissionDenied => {
            StoreError::NotWritable(shown.to_string())
        }
        Code::DatabaseCorrupt | Code::NotADatabase => damaged(path, &error.to_string()),
        Code::DatabaseBusy | Code::DatabaseLocked => StoreError::Database(format!(
            "{shown} was kept busy by another program for too long. Nothing was written; try again"
        )),
        _ => StoreError::Database(format!("{shown}: {error}")),
    }
}

/// The words for a damaged database.
pub(crate) fn damaged(path: &Path, why: &str) -> StoreError {
    StoreError::Database(format!(
        "{} is damaged ({why}). Nothing in it was changed. Keep the file and set CAIRN_HOME to another folder to go on, \
         or put back a copy of it",
        path.display()
    ))
}

/// The system's failure with the path that it met.
pub(crate) fn from_io(error: &io::Error, path: &Path) -> StoreError {
    use io::ErrorKind as Kind;

    let shown = path.display();
    match error.kind() {
        Kind::StorageFull | Kind::QuotaExceeded => StoreError::Full(shown.to_string()),
        Kind::PermissionDenied | Kind::ReadOnlyFilesystem => {
            StoreError::NotWritable(format!("{shown} ({error})"))
        }
        Kind::NotFound => StoreError::Missing(shown.to_string()),
        _ => StoreError::Database(format!("{shown}: {error}")),
    }
}
