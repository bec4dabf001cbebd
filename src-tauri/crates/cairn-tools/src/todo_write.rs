//! The `todo_write` tool. SPEC T28.
