//! Writing to the terminal. A closed pipe is no failure of ours; a full disk behind standard output is one.

use std::io::{ErrorKind, Write};
use std::sync::OnceLock;

static LOST: OnceLock<String> = OnceLock::new();

/// A line on standard output.
pub(crate) fn line(text: &str) {
    if let Err(error) = writeln!(std::io::stdout().lock(), "{text}")
        && error.kind() != ErrorKind::BrokenPipe
    {
        LOST.get_or_init(|| error.to_string());
    }
}

/// Why something could not be written on standard output, unless its reader had only gone.
pub(crate) fn lost() -> Option<&'static str> {
    LOST.get().map(String::as_str)
}

/// A line on standard error.
pub(crate) fn note(text: &str) {
    writeln!(std::io::stderr().lock(), "{text}").unwrap_or_default();
}

/// What went wrong, on standard error.
pub(crate) fn problem(text: &str) {
    note(&format!("cairn: {text}"));
}

/// Text that came from elsewhere, safe for a terminal: control characters are made visible.
pub(crate) fn safe(text: &str) -> String {
    use cairn_host::parts::{Show, show, shown_text};
    text.split('\n')
        .map(|line| shown_text(&show(line, Show::Code)))
        .collect::<Vec<_>>()
        .join("\n")
}
