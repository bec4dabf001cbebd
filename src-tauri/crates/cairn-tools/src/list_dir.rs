//! The `list_dir` tool. SPEC T12.
