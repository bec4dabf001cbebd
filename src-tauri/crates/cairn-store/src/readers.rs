//! Reading connections: opened when first needed, kept for the next read, never in a writer's way.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use cairn_agent::store::StoreError;
use rusqlite::Connection;

use crate::fault::{Fault, from_sql};
use crate::schema;

/// Connections beyond this many are closed after use.
const KEPT: usize = 4;

/// The reading side of the database.
pub(crate) struct Readers {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
}

impl Readers {
    pub(crate) fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            idle: Mutex::new(Vec::new()),
        }
    }

    /// Reads in one consistent view of the database. Blocks.
    pub(crate) fn read<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        let kept = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = match kept {
            Some(connection) => connection,
            None => schema::connect(&self.path).map_err(|error| from_sql(&error, &self.path))?,
        };
        let result = view(&connection, work).map_err(|fault| fault.at(&self.path));
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < KEPT && connection.is_autocommit() {
            idle.push(connection);
        }
        result
    }
}

fn view<T>(connection: &Connection, work: impl FnOnce(&Connection) -> Result<T, Fault>) -> Result<T, Fault> {
    let transaction = connection.unchecked_transaction()?;
    let result = work(&transaction)?;
    transaction.commit()?;
    Ok(result)
}
