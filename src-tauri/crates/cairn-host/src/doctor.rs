//! `cairn doctor`: what was found on this machine, and what is missing.

use cairn_exec::{Gap, Layer, Shell, Walls};

use crate::host::Host;

/// One thing that was looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What.
    pub what: String,
    /// Whether it is fine.
    pub fine: bool,
    /// What was found, or what is missing and what to do.
    pub found: String,
}

/// Looks for model servers, keychain, shell, configuration and folders. Asks loopback ports only; starts nothing but the trial of
/// the sandbox.
pub async fn doctor(host: &Host) -> Vec<Finding> {
    let finding = |what: &str, fine, found: String| Finding {
        what: what.to_owned(),
        fine,
        found,
    };
    let mut all = vec![finding("version", true, env!("CARGO_PKG_VERSION").to_owned())];
    all.push(finding(
        "data folder",
        true,
        host.store().path().display().to_string(),
    ));
    let config = host.config();
    all.push(match config.broken() {
        Some(error) => finding("configuration", false, error.to_string()),
        None => finding("configuration", true, config.path().display().to_string()),
    });
    for profile in &config.profiles {
        let found = format!("{} at {}", profile.model, profile.base_url);
        all.push(finding(&format!("profile {}", profile.name), true, found));
    }
    for server in cairn_models::discover::discover().await {
        let names: Vec<_> = server.models.iter().map(|model| model.name.clone()).collect();
        let (fine, found) = match server.problem {
            Some(problem) => (false, problem),
            None if names.is_empty() => (false, "runs, but has no model".to_owned()),
            None => (true, names.join(", ")),
        };
        all.push(finding(
            &format!("{} at {}", server.name, server.base_url),
            fine,
            found,
        ));
    }
    all.push(match host.secrets().check_keychain().await {
        Ok(()) => finding("keychain", true, "answers".to_owned()),
        Err(error) => finding("keychain", false, error.to_string()),
    });
    let shell = Shell::find(host.environment().get("PATH"));
    all.push(finding("shell", true, shell.invocation().to_owned()));
    let (fine, found) = sandbox(&host.processes().walls().await);
    all.push(finding("sandbox", fine, found));
    all
}

/// Which walls hold commands in, what they do not keep, and why there are no better ones.
fn sandbox(walls: &Walls) -> (bool, String) {
    let mut found = match &walls.layer {
        Some(Layer::Bubblewrap(program)) => format!("bubblewrap ({})", program.display()),
        Some(Layer::Landlock) => "Landlock and a filter of system calls".to_owned(),
        #[cfg(target_os = "macos")]
        Some(Layer::Seatbelt) => "Seatbelt".to_owned(),
        None => "commands are not sandboxed, so in auto every one of them asks".to_owned(),
    };
    for gap in &walls.gaps {
        found.push_str(match gap {
            Gap::InsideWritable => {
                "; protected files inside the project not enforced, credential files inside it can be read"
            }
            Gap::Attributes => "; rights and times of files outside not enforced",
            Gap::Signals => "; signals to your other processes not enforced",
        });
    }
    for why in &walls.why_not {
        found.push_str("; ");
        found.push_str(why);
    }
    let best = walls.layer.is_some() && walls.gaps.is_empty();
    if !best {
        found.push_str(
            ". Install the package bubblewrap and allow unprivileged user namespaces, then start Cairn again",
        );
    }
    (best, found)
}
