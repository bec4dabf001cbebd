//! The `context_status` tool. SPEC T29.
