//! What happens when walls cannot be built: what builds them ends before the program begins.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
#![cfg(target_os = "linux")]

#[path = "support/processes.rs"]
mod support;

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use cairn_exec::{CommandSpec, Confinement, ExecError, Layer, Network};
use cairn_protocol::CommandEnd;
use support::*;

/// A stand-in for bubblewrap beside `folder`: it counts its starts in the file `starts`, fails that many of them as the
/// real one does, and then is the real one.
fn fails(folder: &Path, times: u32) -> PathBuf {
    let program = folder.join("walls");
    let script = format!(
        "#!/bin/sh\necho >> {0}/starts\n\
         if [ $(wc -l < {0}/starts) -le {times} ]; then echo 'bwrap: Can'\\''t mkdir /gone' >&2; exit 1; fi\n\
         exec bwrap \"$@\"\n",
        folder.display()
    );
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    program
}

fn behind(bwrap: PathBuf, folder: &Path, text: &str) -> CommandSpec {
    let temporary = folder.join("temporary");
    std::fs::create_dir_all(&temporary).unwrap();
    std::fs::write(folder.join("blank"), "").unwrap();
    let mut spec = line(text, &mark());
    folder.clone_into(&mut spec.workdir);
    spec.walls = Some(Confinement {
        layer: Layer::Bubblewrap(bwrap),
        writable: vec![folder.to_owned()],
        kept: Vec::new(),
        hidden: Vec::new(),
        temporary,
        blank: folder.join("blank"),
        network: Network::Off,
    });
    spec
}

fn starts(folder: &Path) -> usize {
    std::fs::read_to_string(folder.join("starts"))
        .unwrap()
        .lines()
        .count()
}

#[tokio::test]
#[allow(
    clippy::disallowed_methods,
    reason = "a test looks whether the machine has what it is about"
)]
async fn where_bubblewrap_works_walls_that_could_not_be_built_are_built_anew_and_the_program_begins_once() {
    let works = std::process::Command::new("bwrap")
        .args(["--ro-bind", "/", "/", "--unshare-all", "true"])
        .status();
    if !works.is_ok_and(|status| status.success()) {
        return;
    }
    let processes = processes();
    for (fail, text, end) in [
        (0, "echo x >> ran; exit 1", 1),
        (1, "echo x >> ran; exit 1", 1),
        (2, "echo x >> ran; exit 0", 0),
    ] {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let folder = folder.path().canonicalize().unwrap();
        let spec = behind(fails(&folder, fail), &folder, text);
        let finished = processes.run(spec, |_| {}).await.unwrap();
        assert_eq!(
            finished.end,
            CommandEnd::Exited { code: end },
            "{fail}: {finished:?}"
        );
        assert_eq!(
            std::fs::read_to_string(folder.join("ran")).unwrap(),
            "x\n",
            "{fail}"
        );
        assert_eq!(starts(&folder), fail as usize + 1);
        let told = finished.output.head.matches("set up once more").count();
        assert_eq!(told, fail as usize, "{finished:?}");
    }
}

#[tokio::test]
async fn walls_that_can_never_be_built_refuse_the_command_with_the_reason() {
    let processes = processes();
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let spec = behind(fails(&folder, 99), &folder, "echo x >> ran");
    let refused = processes.run(spec, |_| {}).await.unwrap_err();
    assert!(matches!(refused, ExecError::NotStarted { .. }), "{refused:?}");
    assert!(refused.to_string().contains("Can't mkdir /gone"), "{refused}");
    assert_eq!(starts(&folder), 3);
    assert!(!folder.join("ran").exists());
}
