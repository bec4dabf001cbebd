//! The `read_file` tool. SPEC T10.
