//! The `ask_user` tool. SPEC T30.
