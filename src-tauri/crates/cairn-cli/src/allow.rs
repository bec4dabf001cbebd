//! `cairn allow`.

use std::path::PathBuf;
use std::sync::Arc;

use cairn_host::Host;
use cairn_protocol::ApiError;

use crate::args::{Allow, AllowAction};
use crate::{DONE, out};

pub(crate) async fn run(host: &Arc<Host>, allow: Allow) -> Result<u8, ApiError> {
    let folder = allow.project.unwrap_or_else(|| PathBuf::from("."));
    let project = host.project(Some(&folder)).await?;
    let mut rules = host.project_rules(&project);
    match allow.action {
        AllowAction::List => {
            if let Some(broken) = rules.broken() {
                out::problem(broken);
            }
            for granted in rules.list() {
                out::line(&out::safe(&granted.rule.to_string()));
            }
        }
        AllowAction::Add { rule } => host.add_rule(&project, &rule)?,
        AllowAction::Revoke { rule } => rules.revoke(&rule)?,
        AllowAction::Reset => rules.reset()?,
    }
    Ok(DONE)
}
