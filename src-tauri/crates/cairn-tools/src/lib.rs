//! The tools a model can call, one file each.
//!
//! Owns: what each tool takes, does and answers. Must never know: whether a call may run, or who draws it.

pub mod args;
pub mod ask_user;
pub mod bounds;
mod change;
pub mod context_status;
pub mod delete_file;
pub mod edit_file;
mod editing;
pub mod enter_plan_mode;
pub mod exit_plan_mode;
pub mod git;
pub mod glob;
pub mod grep;
pub mod list_dir;
pub mod make_dir;
pub mod move_file;
pub mod multi_edit;
pub mod picture;
pub mod place;
mod prepared;
pub mod process_kill;
pub mod process_output;
pub mod read_file;
pub mod remember;
pub mod shell;
pub mod todo_write;
pub mod untrusted;
mod walk;
mod watched;
pub mod web;
pub mod web_fetch;
pub mod web_search;
pub mod write_file;

use std::ffi::OsString;
use std::sync::Arc;

use cairn_agent::tool::Tool;
use cairn_exec::Group;

use place::Workspace;
use watched::watched;
use web::{Web, WebConfig};

/// Every tool of one session, in the order the model sees them. `group` holds the session's commands, `environment` is
/// what they get, `web_config` what the user says about searching, `memory` keeps facts about the project.
pub fn all(
    workspace: Arc<Workspace>,
    group: Group,
    environment: Vec<(OsString, OsString)>,
    web_config: WebConfig,
    memory: Arc<dyn remember::Memory>,
) -> Vec<Arc<dyn Tool>> {
    let processes = group.processes().clone();
    let shell = Arc::new(shell::Shell::new(
        workspace.clone(),
        group.clone(),
        environment.clone(),
    ));
    let web = Arc::new(Web::internet());
    let folder = workspace.root().path().to_owned();
    let bounds = workspace.bounds().cloned();
    vec![
        watched(Arc::new(read_file::ReadFile::new(
            workspace.clone(),
            processes.clone(),
        ))),
        watched(Arc::new(list_dir::ListDir::new(workspace.clone()))),
        watched(Arc::new(glob::Glob::new(workspace.clone()))),
        watched(Arc::new(grep::Grep::new(workspace.clone()))),
        watched(edit_file::tool(workspace.clone())),
        watched(multi_edit::tool(workspace.clone())),
        watched(write_file::tool(workspace.clone())),
        watched(move_file::tool(workspace.clone())),
        watched(delete_file::tool(workspace.clone())),
        watched(make_dir::tool(workspace.clone())),
        watched(shell.clone()),
        watched(Arc::new(
            process_output::ProcessOutput::new(group.clone()).with_workspace(workspace.clone()),
        )),
        watched(Arc::new(process_kill::ProcessKill::new(group))),
        watched(Arc::new(git::Git::new(
            workspace,
            processes.clone(),
            environment.clone(),
            shell,
        ))),
        // These two mark and flag what they bring themselves.
        Arc::new(web_fetch::WebFetch::new(web.clone(), processes.clone())),
        Arc::new(
            web_search::WebSearch::new(web, web_config, processes, environment, folder).with_bounds(bounds),
        ),
        // What these tell are the words of the model and the person.
        Arc::new(todo_write::TodoWrite::new()),
        Arc::new(enter_plan_mode::EnterPlanMode::new()),
        Arc::new(exit_plan_mode::ExitPlanMode::new()),
        Arc::new(ask_user::AskUser::new()),
        Arc::new(remember::Remember::new(memory)),
        Arc::new(context_status::ContextStatus::new()),
    ]
}
