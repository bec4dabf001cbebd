//! The tools a model can call, one file each.
//!
//! Owns: what each tool takes, does and answers. Must never know: whether a call may run, or who draws it.

pub mod args;
pub mod ask_user;
mod change;
pub mod context_status;
pub mod delete_file;
pub mod edit_file;
pub mod glob;
pub mod grep;
pub mod list_dir;
pub mod make_dir;
pub mod move_file;
pub mod multi_edit;
pub mod picture;
pub mod place;
mod prepared;
pub mod read_file;
pub mod shell;
pub mod todo_write;
mod walk;
pub mod write_file;

use std::ffi::OsString;
use std::sync::Arc;

use cairn_agent::tool::Tool;
use cairn_exec::Processes;

use place::Workspace;

/// Every tool of one session, in the order the model sees them. `environment` is what commands get.
pub fn all(
    workspace: Arc<Workspace>,
    processes: Processes,
    environment: Vec<(OsString, OsString)>,
) -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(read_file::ReadFile::new(workspace.clone(), processes.clone())),
        Arc::new(list_dir::ListDir::new(workspace.clone())),
        Arc::new(glob::Glob::new(workspace.clone())),
        Arc::new(grep::Grep::new(workspace.clone())),
        Arc::new(edit_file::EditFile::new(workspace.clone())),
        Arc::new(multi_edit::MultiEdit::new(workspace.clone())),
        Arc::new(write_file::WriteFile::new(workspace.clone())),
        Arc::new(move_file::MoveFile::new(workspace.clone())),
        Arc::new(delete_file::DeleteFile::new(workspace.clone())),
        Arc::new(make_dir::MakeDir::new(workspace.clone())),
        Arc::new(shell::Shell::new(workspace, processes, environment)),
        Arc::new(todo_write::TodoWrite::new()),
        Arc::new(ask_user::AskUser::new()),
        Arc::new(context_status::ContextStatus::new()),
    ]
}
