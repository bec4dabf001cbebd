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
pub mod untrusted;
mod walk;
pub mod web;
pub mod web_fetch;
pub mod web_search;
pub mod write_file;

use std::ffi::OsString;
use std::sync::Arc;

use cairn_agent::tool::Tool;
use cairn_exec::Processes;

use place::Workspace;
use web::{Web, WebConfig};

/// Every tool of one session, in the order the model sees them. `environment` is what commands get, `web_config`
/// what the user says about searching.
pub fn all(
    workspace: Arc<Workspace>,
    processes: Processes,
    environment: Vec<(OsString, OsString)>,
    web_config: WebConfig,
) -> Vec<Arc<dyn Tool>> {
    let web = Arc::new(Web::internet());
    let folder = workspace.root().path().to_owned();
    vec![
        Arc::new(read_file::ReadFile::new(workspace.clone(), processes.clone())),
        Arc::new(list_dir::ListDir::new(workspace.clone())),
        Arc::new(glob::Glob::new(workspace.clone())),
        Arc::new(grep::Grep::new(workspace.clone())),
        Arc::new(edit_file::EditFile::new(workspace.clone())),
        Arc::new(write_file::WriteFile::new(workspace.clone())),
        Arc::new(shell::Shell::new(
            workspace,
            processes.clone(),
            environment.clone(),
        )),
        Arc::new(web_fetch::WebFetch::new(web.clone(), processes.clone())),
        Arc::new(web_search::WebSearch::new(
            web,
            web_config,
            processes,
            environment,
            folder,
        )),
        Arc::new(todo_write::TodoWrite::new()),
        Arc::new(ask_user::AskUser::new()),
        Arc::new(context_status::ContextStatus::new()),
    ]
}
