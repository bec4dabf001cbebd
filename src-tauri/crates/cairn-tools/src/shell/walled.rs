//! A command within its walls: what it starts with, and what is said at its end.
//!
//! Owns: the way from the session's bounds to one command and back. Must never know: how walls are built.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use cairn_agent::tool::ToolOutcome;
use cairn_exec::{CommandSpec, Group, Network};
use cairn_policy::{Looked, Sandbox};
use cairn_protocol::ContentBlock;

use crate::bounds::{Bounds, Found, Moved};
use crate::place::Workspace;

/// What a command prints that ran into a wall. Only hints: programs word such things as they like.
const SIGNS: &[&str] = &[
    "read-only file system",
    "permission denied",
    "operation not permitted",
    "device or resource busy",
    "network is unreachable",
    "could not resolve",
    "couldn't resolve",
    "temporary failure in name resolution",
    "name or service not known",
    "eacces",
    "eperm",
    "erofs",
    "enetunreach",
    "eai_again",
];

/// The walls of a command that begins, and what was there before.
pub(super) struct Walled {
    bounds: Arc<Bounds>,
    network: Network,
    found: Found,
}

impl Walled {
    /// Puts a command within the session's walls. Looks at the disk: to be called on a blocking thread.
    pub(super) fn put(bounds: Arc<Bounds>, network: Network, spec: &mut CommandSpec) -> Self {
        let (walls, found) = bounds.around_command(network);
        spec.environment = bounds.environment(&spec.environment, network);
        spec.walls = Some(walls);
        Self {
            bounds,
            network,
            found,
        }
    }

    /// Why the command may not begin though it was judged, where the walls keep less than they did then.
    pub(super) fn is_weaker_than(&self, judged: &Looked) -> Option<String> {
        match (judged, self.found.looked()) {
            (Looked::Whole, Looked::InPart(reason)) => Some(format!(
                "The command was not run. Since it was judged the project has changed: {reason} Call again; the user may \
                 be asked."
            )),
            _ => None,
        }
    }

    /// What has to be said once a call has its answer. `handle` names what runs on: that is looked after later.
    pub(super) async fn finish(
        self,
        mut outcome: ToolOutcome,
        handle: Option<&str>,
        workspace: &Arc<Workspace>,
        processes: &Group,
    ) -> ToolOutcome {
        let Self {
            bounds,
            network,
            found,
        } = self;
        if !outcome.ok && !outcome.stopped && !outcome.timed_out && hit_a_wall(&outcome) {
            outcome.content.push_str(&hint(bounds.sandbox(), network));
            outcome.walled = true;
        }
        if let Some(handle) = handle {
            bounds.watch(handle, found.clone());
        }
        let was_whole = *found.looked() == Looked::Whole;
        let moved = check(&bounds, Some(found), workspace, processes).await;
        say(&mut outcome, &moved);
        if was_whole && let Looked::InPart(reason) = bounds.looked() {
            let _written = write!(
                outcome.content,
                "\n[Since this command ran: {reason} Commands that could run code of the project ask from now on. Tell the \
                 user.]"
            );
        }
        outcome
    }
}

/// Takes out of the project what running commands made and may not; `found` is what was there before one that ended.
pub(crate) async fn check(
    bounds: &Arc<Bounds>,
    found: Option<Found>,
    workspace: &Arc<Workspace>,
    processes: &Group,
) -> Vec<Moved> {
    let (bounds, workspace, processes) = (Arc::clone(bounds), Arc::clone(workspace), processes.clone());
    let checking = tokio::task::spawn_blocking(move || {
        let known = |path: &Path| workspace.coverage().saw_whole(path);
        let runs = |handle: &str| processes.get(handle).is_ok_and(|facts| facts.state.is_alive());
        let mut moved = Vec::new();
        if let Some(found) = found {
            moved.extend(bounds.set_aside(&found, &known));
        }
        moved.extend(bounds.check_watched(&known, &runs));
        moved
    });
    checking.await.unwrap_or_default()
}

/// Says what was taken out of the project, to the model and on the card.
pub(crate) fn say(outcome: &mut ToolOutcome, moved: &[Moved]) {
    if moved.is_empty() {
        return;
    }
    for one in moved {
        let name = cairn_files::name::to_text(one.from.as_os_str());
        let _written = match &one.to {
            Ok(to) => write!(
                outcome.content,
                "\n[{name} appeared while a command ran. Files of that name run code or steer tools later, so it was set \
                 aside: it is now {}. Tell the user; to make it, write it with the file tools, which ask.]",
                to.display()
            ),
            Err(reason) => write!(
                outcome.content,
                "\n[{name} appeared while a command ran. Files of that name run code or steer tools later, and it could \
                 not be set aside: {reason}. Tell the user.]"
            ),
        };
    }
    if !outcome.note.is_empty() {
        outcome.note.push_str(", ");
    }
    let _written = write!(
        outcome.note,
        "{} set aside",
        crate::prepared::counted(moved.len() as u64, "file", "files")
    );
}

fn hit_a_wall(outcome: &ToolOutcome) -> bool {
    let printed = outcome.blocks.iter().find_map(|block| match block {
        ContentBlock::Terminal(terminal) => Some(terminal.output.to_lowercase()),
        _ => None,
    });
    printed.is_some_and(|text| SIGNS.iter().any(|sign| text.contains(sign)))
}

fn hint(sandbox: Sandbox, network: Network) -> String {
    let inside = match sandbox {
        Sandbox::Enforced => ", changes no file of git's settings or hooks and no other that runs code later",
        Sandbox::WithoutProtected | Sandbox::NotEnforced => "",
    };
    let (reach, ask) = match network {
        Network::Off => (
            " and reaches no network",
            "call again with `network: true` for the network, or with `outside: true` to run it outside the sandbox",
        ),
        Network::On => (
            "",
            "call again with `outside: true` to run it outside the sandbox",
        ),
    };
    format!(
        "\n[The sandbox may be the reason: a command writes only to the project and to temporary and cache folders\
         {inside}, reads no credentials{reach}. If that is what failed and it is needed, {ask}; the user is asked.]"
    )
}
