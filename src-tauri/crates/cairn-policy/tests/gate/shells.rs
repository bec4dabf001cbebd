//! Runs lines under real bash and dash with stub programs, and tells what ran and which files appeared.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// What came of one line in one shell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ran {
    /// Each stub that ran with its arguments, in no order: those of a pipe run at the same time.
    pub(crate) calls: Vec<String>,
    /// Files that appeared.
    pub(crate) wrote: Vec<String>,
}

impl Ran {
    pub(crate) fn programs(&self) -> BTreeSet<String> {
        let name = |call: &String| call.split('\u{1f}').next().unwrap_or_default().to_owned();
        self.calls.iter().map(name).collect()
    }
}

/// The shells that this machine has.
pub(crate) fn shells() -> Vec<&'static str> {
    let found: Vec<&str> = ["/bin/bash", "/bin/dash"]
        .into_iter()
        .filter(|shell| Path::new(shell).exists())
        .collect();
    assert!(!found.is_empty(), "neither bash nor dash is here");
    found
}

/// Runs each line in a folder of its own; one process of the shell for all, a subshell for each.
pub(crate) fn run_all(shell: &str, lines: &[String]) -> Vec<Ran> {
    let temp = tempfile::tempdir().unwrap();
    let bin = temp.path().join("bin");
    fs::create_dir(&bin).unwrap();
    for name in ["good", "evil", "ls"] {
        let stub = bin.join(name);
        // One write for each call, so that those of a pipe do not mix.
        let text = format!("#!/bin/sh\nprintf '%s\\037' {name} \"$@\" '\u{1e}' >>\"$STUB_LOG\"\n");
        fs::write(&stub, text).unwrap();
        fs::set_permissions(&stub, fs::Permissions::from_mode(0o755)).unwrap();
    }
    for name in [
        "timeout", "nice", "env", "cat", "head", "tail", "wc", "sort", "xargs", "find", "awk", "sed", "tar",
        "git",
    ] {
        for folder in ["/usr/bin", "/bin"] {
            let real = Path::new(folder).join(name);
            if real.exists() {
                let _there = std::os::unix::fs::symlink(real, bin.join(name));
            }
        }
    }
    let mut script = String::new();
    for (at, line) in lines.iter().enumerate() {
        fs::create_dir(temp.path().join(at.to_string())).unwrap();
        let quoted = line.replace('\'', "'\\''");
        script.push_str(&format!(
            "(cd {root}/{at}; STUB_LOG={root}/{at}.log; export STUB_LOG; eval '{quoted}') </dev/null >/dev/null 2>&1\n",
            root = temp.path().display()
        ));
    }
    let file = temp.path().join("script");
    fs::write(&file, script).unwrap();
    run(shell, &file, &bin);
    (0..lines.len())
        .map(|at| {
            let log = fs::read(temp.path().join(format!("{at}.log"))).unwrap_or_default();
            let mut calls: Vec<String> = String::from_utf8_lossy(&log)
                .split("\u{1f}\u{1e}\u{1f}")
                .filter(|call| !call.is_empty())
                .map(ToOwned::to_owned)
                .collect();
            calls.sort();
            let entries = fs::read_dir(temp.path().join(at.to_string())).unwrap();
            let wrote = entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
            Ran {
                calls,
                wrote: wrote.collect(),
            }
        })
        .collect()
}

#[allow(
    clippy::disallowed_methods,
    reason = "the shells stand beside the gate here; nothing of the product starts them"
)]
fn run(shell: &str, script: &Path, bin: &Path) {
    let status = std::process::Command::new(shell)
        .arg(script)
        .env_clear()
        .env("PATH", bin)
        .env("HOME", bin.parent().unwrap())
        .env("LC_ALL", "C.UTF-8")
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .status()
        .unwrap();
    assert!(
        status.code().is_some(),
        "{shell} did not come to its end: {status}"
    );
}
