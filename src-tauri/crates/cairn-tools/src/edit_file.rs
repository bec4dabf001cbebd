//! The `edit_file` tool. SPEC T16.
