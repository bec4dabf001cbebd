//! What is known about programs: the table `program/programs.txt`, read once.
//!
//! Owns: the class of a command, the options and operands it may have to run unasked, the closed list of wrappers.
//! Must never know: rules, modes, files. A program that is not in the table is unknown, and an option that is not in
//! its form is not harmless: both ask.

mod arguments;
mod script_text;
mod table;

use std::sync::LazyLock;

pub(crate) use arguments::Taken;
use table::Table;

/// What kind of thing a command does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Class {
    /// Only reads and prints.
    Reads,
    /// Changes the files it is given.
    Writes,
    /// Builds, checks or runs the project, and so runs code of it.
    Project,
    /// Git, as far as it loses nothing and reaches nobody.
    Git,
    /// Reaches a host, or a service that acts outside the sandbox.
    Network,
    /// Deletes or ends something for good.
    Destructive,
    /// Runs, or can be made to run, the text it is given.
    Text,
    /// Nothing is known about it.
    Unknown,
}

/// How a program is called when it does one kind of thing.
#[derive(Debug, Default)]
pub(crate) struct Form {
    /// The program and the words after it that make this form.
    pub words: Vec<&'static str>,
    pub class: Option<Class>,
    options: Vec<(&'static str, Value)>,
    style: Style,
    operands: Operands,
    /// Any number right after a dash, like `head -5`.
    digits: bool,
    /// What follows `--` is passed on to somebody else.
    rest: bool,
    /// At most so many operands.
    most: Option<usize>,
    /// Searches folders, whatever the options are.
    searches: bool,
    /// Options that make it search folders.
    recursive: Vec<&'static str>,
    /// Operands that belong to a rule about it, like the `build` of `npm run build`.
    pub names: usize,
    /// Operands of a wrapper in front of the command.
    before: usize,
}

/// What an option is followed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    Nothing,
    Number,
    Text,
    /// Text that takes the place of the first operand.
    Pattern,
    Maybe,
    Reads,
    Writes,
    Script,
}

/// How options are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Style {
    /// `-abc` are three options, long ones begin with two dashes.
    #[default]
    Letters,
    /// Each option is one word, like those of `find` and `go`.
    Words,
}

/// What stands beside the options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Operands {
    #[default]
    Nothing,
    /// Files and folders that are read.
    Reads,
    /// Files and folders that are changed.
    Writes,
    /// The last one is changed, the others are read.
    ReadsThenWrite,
    /// The last one is where the others go.
    Moves,
    /// Plain text.
    Texts,
    /// A pattern or program, then files.
    TextThenReads,
    /// A script that is looked at, then files.
    ScriptThenReads,
    /// A filter of `jq`, then files.
    FilterThenReads,
    /// A format that begins with `+`.
    Format,
    /// Files, then an expression.
    Find,
    /// The operands of `test`.
    Test,
    /// Everything is printed, options too.
    Printed,
    /// Everything, for programs whose options can do no more than the project's own code can.
    Any,
    /// Text without `=`, which would set a variable.
    Targets,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| Table::read(table::DATA).unwrap_or_default());

/// The form that a command has; the longest beginning wins.
pub(crate) fn form_of(words: &[String]) -> Option<&'static Form> {
    TABLE.form_of(words)
}

/// Whether the table knows the program, in whatever form.
pub(crate) fn is_known(program: &str) -> bool {
    TABLE.is_known(program)
}

/// The command that a wrapper runs, if the words before it are all known; none where this is no wrapper.
pub(crate) fn unwrapped(words: &[String]) -> Option<Result<&[String], String>> {
    let form = TABLE.wrapper_of(words)?;
    Some(arguments::wrapped(form, words))
}

/// Whether the shell runs it itself, whatever is on the disk.
pub(crate) fn is_builtin(program: &str) -> bool {
    matches!(
        program,
        "echo" | "printf" | "test" | "[" | "pwd" | "true" | "false" | ":" | "type" | "command" | "cd"
    )
}

/// The name without the number that tells versions apart, for interpreters and compilers.
pub(crate) fn without_version(name: &str) -> &str {
    const VERSIONED: &[&str] = &[
        "python", "pip", "node", "ruby", "perl", "php", "lua", "gcc", "clang", "g++",
    ];
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if VERSIONED.contains(&bare) { bare } else { name }
}

#[cfg(test)]
mod tests;
