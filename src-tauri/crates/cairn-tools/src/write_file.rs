//! The `write_file` tool. SPEC T15.
