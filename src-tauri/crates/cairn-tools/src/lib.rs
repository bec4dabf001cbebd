//! The tools a model can call, one file each.
//!
//! Owns: what each tool takes, does and answers. Must never know: whether a call may run, or who draws it.

pub mod args;
pub mod ask_user;
mod change;
pub mod context_status;
pub mod edit_file;
pub mod glob;
pub mod grep;
pub mod list_dir;
pub mod picture;
pub mod place;
mod prepared;
pub mod read_file;
pub mod shell;
pub mod todo_write;
mod walk;
pub mod write_file;
