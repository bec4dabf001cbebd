//! Writing to the terminal. A closed pipe is no failure of ours.

use std::io::Write;

/// A line on standard output.
pub(crate) fn line(text: &str) {
    writeln!(std::io::stdout().lock(), "{text}").unwrap_or_default();
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
