//! What is kept: the SQLite database, the blob store, secrets.
