//! Sockets that somebody listens at and whose place the system does not tell plainly. Must never know: what the walls
//! make of them.
//!
//! The system lists a socket by the words its program gave when it was made. Walls find those that are whole paths by
//! themselves; here are the others: a word like `control` counts from the folder that the program was in, and
//! `/proc/self` is another place for each program.

use std::collections::BTreeSet;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

/// Processes that are asked where they are.
const PROCESSES: usize = 20_000;

/// Their real paths, as far as the programs that made them are still in the folder in which they made them.
pub(super) fn told_otherwise() -> BTreeSet<PathBuf> {
    let table = std::fs::read_to_string("/proc/net/unix").unwrap_or_default();
    let words: BTreeSet<&str> = table.lines().skip(1).filter_map(word).collect();
    if words.is_empty() {
        return BTreeSet::new();
    }
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let processes = processes
        .filter(|entry| entry.file_name().to_string_lossy().parse::<u32>().is_ok())
        .take(PROCESSES);
    let mut found = BTreeSet::new();
    for process in processes {
        for word in &words {
            found.extend(place(&process.path(), word));
        }
    }
    found
}

/// What a line of the list calls a socket, where that is no plain path: seven columns of numbers come before it.
fn word(line: &str) -> Option<&str> {
    let mut rest = line.trim_start();
    for _ in 0..7 {
        let end = rest.find(' ')?;
        rest = rest.get(end..)?.trim_start();
    }
    let is_plain = rest.starts_with('/') && !rest.starts_with("/proc/");
    (!rest.is_empty() && !rest.starts_with('@') && !is_plain).then_some(rest)
}

/// Where a word leads for a process; none unless a socket is there.
fn place(process: &Path, word: &str) -> Option<PathBuf> {
    let own = ["/proc/self/", "/proc/thread-self/"]
        .iter()
        .find_map(|own| word.strip_prefix(own));
    let path = match own {
        Some(rest) => process.join(rest),
        None => process.join("cwd").join(word),
    };
    let real = path.canonicalize().ok()?;
    let kind = real.symlink_metadata().ok()?.file_type();
    kind.is_socket().then_some(real)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_no_plain_path_is_looked_for() {
        let line = |path: &str| format!("0000000000000000: 00000002 00000000 00010000 0001 01 12345 {path}");
        for (path, expected) in [
            ("/run/x.sock", None),
            ("/run/with blank/x", None),
            ("@nameless", None),
            ("control", Some("control")),
            ("./my control", Some("./my control")),
            ("../x", Some("../x")),
            ("/proc/self/fd/7/x", Some("/proc/self/fd/7/x")),
        ] {
            assert_eq!(word(&line(path)), expected, "{path}");
        }
        assert_eq!(
            word("0000000000000000: 00000002 00000000 00010000 0001 01 12345"),
            None
        );
        assert_eq!(word(""), None);
    }

    #[test]
    fn a_word_is_followed_from_where_its_program_is() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().canonicalize().unwrap();
        std::fs::create_dir(at.join("process")).unwrap();
        std::fs::create_dir(at.join("there")).unwrap();
        std::os::unix::fs::symlink(at.join("there"), at.join("process/cwd")).unwrap();
        let _listener = std::os::unix::net::UnixListener::bind(at.join("there/control")).unwrap();
        std::fs::write(at.join("there/file"), "").unwrap();
        let process = at.join("process");
        assert_eq!(place(&process, "control"), Some(at.join("there/control")));
        assert_eq!(
            place(&process, "/proc/self/cwd/control"),
            Some(at.join("there/control"))
        );
        assert_eq!(place(&process, "file"), None);
        assert_eq!(place(&process, "missing"), None);
    }
}
