//! What the folder's own files propose, and that it is inert until somebody trusts the folder. SPEC A6, P11.

use cairn_host::{Host, Project};
use cairn_protocol::{ApiError, Proposal, ProposalKind, TrustState, TrustView};

use crate::out;

/// Says what is inert; with `--trust` saves that it no longer is, and says what that covers.
pub(super) async fn tell(host: &Host, project: &Project, trust: bool) -> Result<(), ApiError> {
    let view = host.trust_view(project);
    if trust {
        let view = host.trust(project, &view.digest).await?;
        out::note(&format!(
            "note: {} is trusted from now on{}",
            out::safe(&project.shown()),
            listed(", with:", &view.proposals)
        ));
        return Ok(());
    }
    if view.asks {
        out::note(&format!("note: {}", inert(&view)));
    }
    Ok(())
}

fn inert(view: &TrustView) -> String {
    if let Some(problem) = &view.problem {
        return format!(
            "this folder is not trusted, so nothing that it proposes is in force. {}",
            out::safe(problem)
        );
    }
    let mut text = match view.state {
        TrustState::Changed { .. } => {
            "what this folder proposes has changed since it was trusted:".to_owned()
        }
        TrustState::Replaced { .. } => {
            "another folder or repository of this path was trusted, not this one.".to_owned()
        }
        TrustState::New | TrustState::Trusted { .. } => "this folder is not trusted.".to_owned(),
    };
    for change in &view.changes {
        for (mark, proposal) in [("-", &change.before), ("+", &change.after)] {
            if let Some(proposal) = proposal {
                text.push_str(&format!("\n  {mark} {}", line(proposal)));
            }
        }
    }
    text.push_str(&listed("\nNothing of this is in force:", &view.proposals));
    text.push_str("\nRun once with --trust when you have read it.");
    text
}

fn listed(heading: &str, proposals: &[Proposal]) -> String {
    if proposals.is_empty() {
        return ".".to_owned();
    }
    let lines: Vec<String> = proposals.iter().map(line).collect();
    format!("{heading}\n  {}", lines.join("\n  "))
}

/// One proposal, whole, with whatever hides in it made visible; further lines of it stand beneath.
fn line(proposal: &Proposal) -> String {
    let kind = match proposal.kind {
        ProposalKind::Rule => "allow",
        ProposalKind::Server => "server",
        ProposalKind::Hook => "hook",
        ProposalKind::Command => "words for the model",
        ProposalKind::Checker => "checker",
        ProposalKind::Git => "git",
        ProposalKind::Setting => "setting, never taken from a folder",
    };
    let name = match proposal.name.as_str() {
        "" => String::new(),
        name => format!(" {}", out::safe(name)),
    };
    let text = out::safe(&proposal.text).replace('\n', "\n      ");
    format!("{kind}{name}: {text}  [{}]", out::safe(&proposal.file))
}
