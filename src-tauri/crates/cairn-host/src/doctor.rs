//! `cairn doctor`: what was found on this machine, and what is missing.

use cairn_exec::Shell;

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
        let found = match profile.base_url.as_str() {
            "" => profile.model.clone(),
            address => format!("{} at {address}", profile.model),
        };
        all.push(finding(&format!("profile {}", profile.name), true, found));
    }
    let files = if cairn_models::RUNS_MODEL_FILES {
        "run in the process"
    } else {
        "not run by this build (feature `local-model`); llama.cpp's server runs them"
    };
    all.push(finding("model files", true, files.to_owned()));
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
    let (fine, found) = crate::sandbox::line(&host.processes().walls().await);
    all.push(finding("sandbox", fine, found));
    all
}
