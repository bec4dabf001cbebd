//! What a command is, and what is known about it once it has ended.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use cairn_protocol::CommandEnd;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::sandbox::Confinement;

/// The shell that runs a line. SPEC T21: bash where there is one, else sh; never with start-up files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shell {
    /// `bash --noprofile --norc -c`.
    Bash(PathBuf),
    /// `sh -c`.
    Sh(PathBuf),
}

impl Shell {
    /// Looks for bash in the absolute folders of `path` (the form of `PATH`), then in the usual places.
    pub fn find(path: Option<&OsStr>) -> Self {
        let folders = path
            .map(|path| std::env::split_paths(path).collect::<Vec<_>>())
            .unwrap_or_default();
        let usual = ["/bin", "/usr/bin", "/usr/local/bin"].map(PathBuf::from);
        let candidates = folders
            .into_iter()
            .filter(|folder| folder.is_absolute())
            .chain(usual);
        candidates
            .map(|folder| folder.join("bash"))
            .find(|file| is_executable(file))
            .map_or_else(|| Self::Sh(PathBuf::from("/bin/sh")), Self::Bash)
    }

    /// How it is called, for the model.
    pub fn invocation(&self) -> &'static str {
        match self {
            Self::Bash(_) => "bash --noprofile --norc -c",
            Self::Sh(_) => "sh -c",
        }
    }

    /// Program and arguments that run `line`.
    pub(crate) fn arguments(&self, line: &str) -> (OsString, Vec<OsString>) {
        let (program, options): (_, &[&str]) = match self {
            Self::Bash(program) => (program, &["--noprofile", "--norc", "-c"]),
            Self::Sh(program) => (program, &["-c"]),
        };
        // `--` keeps a line that begins with a dash from being read as an option of the shell.
        let arguments = options
            .iter()
            .copied()
            .chain(["--", line])
            .map(OsString::from)
            .collect();
        (program.clone().into_os_string(), arguments)
    }
}

/// A regular file that somebody may execute.
fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.metadata()
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// What to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Program {
    /// A line for a shell.
    Line {
        /// The shell.
        shell: Shell,
        /// The line, passed on byte for byte.
        line: String,
    },
    /// A program with its arguments, without any shell.
    Direct {
        /// An absolute path, or a name that is looked for in the `PATH` of the environment given.
        program: OsString,
        /// Its arguments.
        arguments: Vec<OsString>,
    },
}

/// A command to run.
#[derive(Clone, Debug)]
pub struct CommandSpec {
    /// What to start.
    pub program: Program,
    /// The folder it runs in.
    pub workdir: PathBuf,
    /// All of its environment, as made by [`crate::child_environment`]; nothing else is inherited.
    pub environment: Vec<(OsString, OsString)>,
    /// How long it may run; none for ever.
    pub limit: Option<Duration>,
    /// Cancelled to stop it: the call then answers within 200 ms, the tree is dead within 2.5 s.
    pub cancel: CancellationToken,
    /// What holds it in; none for a command that may do what the person may.
    pub walls: Option<Confinement>,
}

/// A piece of what a command prints while it runs, escape sequences removed.
///
/// A receiver cuts what it has to `offset` bytes and appends `text`: the offset goes back where a line is drawn anew
/// (progress by carriage return), and jumps ahead where more was printed than anybody could watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveOutput<'a> {
    /// Bytes of cleaned text before this piece.
    pub offset: u64,
    /// The piece; at most 16 KiB, at most one every 30 ms.
    pub text: &'a str,
}

/// What is kept of what a command printed: standard output and error in the order in which they came, escape
/// sequences removed, of progress lines only the last state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Output {
    /// Its beginning, at most 64 KiB.
    pub head: String,
    /// Its end, at most 256 KiB; follows `head` directly when `omitted` is 0.
    pub tail: String,
    /// Bytes missing between the two.
    pub omitted: u64,
    /// Bytes printed in all, before anything was removed.
    pub printed: u64,
    /// Bytes of cleaned text before the line that is still open; none of them changes any more.
    pub stable: u64,
}

/// A part of an [`Output`], from some offset to its end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slice {
    /// Bytes of cleaned text before it.
    pub offset: u64,
    /// What is kept from there on; `omitted` are missing in it.
    pub output: Output,
}

impl Slice {
    /// Offset of its end.
    pub fn end(&self) -> u64 {
        self.offset + self.output.length()
    }
}

impl Output {
    /// Bytes of cleaned text, those left out counted too.
    pub fn length(&self) -> u64 {
        (self.head.len() + self.tail.len()) as u64 + self.omitted
    }

    /// What is kept from that offset on; nothing when the text is not that long.
    pub fn since(&self, offset: u64) -> Slice {
        let offset = offset.min(self.length());
        let head = self.head.len() as u64;
        let after_gap = head + self.omitted;
        let rest = |text: &str, from: u64| {
            let from = usize::try_from(from).unwrap_or(usize::MAX).min(text.len());
            text.get(text.ceil_char_boundary(from)..)
                .unwrap_or_default()
                .to_owned()
        };
        let (head_left, omitted, tail) = if offset < head {
            (rest(&self.head, offset), self.omitted, self.tail.clone())
        } else if offset < after_gap {
            (String::new(), after_gap - offset, self.tail.clone())
        } else {
            (String::new(), 0, rest(&self.tail, offset - after_gap))
        };
        let output = Self {
            head: head_left,
            tail,
            omitted,
            ..*self
        };
        Slice {
            // Within a character the slice begins after it.
            offset: self.length() - output.length(),
            output,
        }
    }

    /// The text, with a line that says how much is missing where something is.
    pub fn text(&self) -> String {
        let mut text = self.head.clone();
        if self.omitted > 0 {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(&format!("[… {} bytes left out …]\n", self.omitted));
        }
        text.push_str(&self.tail);
        text
    }
}

/// A process that a command left running.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Survivor {
    /// Its process id.
    pub pid: u32,
    /// Its command line, cut to 300 characters.
    pub command: String,
}

/// What a command is called where people and models see it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Label {
    /// The command as it is shown.
    pub command: String,
    /// Whatever whoever starts it wants to find with it later.
    pub tag: String,
}

/// A command that has ended, or was given up.
#[derive(Clone, Debug, PartialEq)]
pub struct Finished {
    /// How.
    pub end: CommandEnd,
    /// What it printed until then.
    pub output: Output,
    /// How long it took.
    pub elapsed: Duration,
    /// What it left running, after an end of its own. These stay supervised and end with the app.
    pub survivors: Vec<Survivor>,
}
