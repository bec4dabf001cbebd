//! The `glob` tool. SPEC T13.
