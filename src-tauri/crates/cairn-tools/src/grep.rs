//! The `grep` tool. SPEC T14.
