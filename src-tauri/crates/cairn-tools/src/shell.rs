//! The `shell` tool. SPEC T21.
