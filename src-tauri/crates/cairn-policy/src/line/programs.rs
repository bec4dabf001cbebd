//! What is known about programs by their names.

/// Words of the shell's grammar that stand in front of a command.
const SHELL_WORDS: &[&str] = &[
    "{", "}", "!", "if", "then", "elif", "else", "fi", "while", "until", "do", "done", "for", "case", "esac",
    "in", "time", "coproc", "function",
];

/// Programs whose arguments are, or may be, another command.
const WRAPPERS: &[&str] = &[
    "sudo",
    "doas",
    "pkexec",
    "su",
    "run0",
    "runuser",
    "setpriv",
    "env",
    "command",
    "builtin",
    "exec",
    "eval",
    "nohup",
    "nice",
    "ionice",
    "chrt",
    "taskset",
    "timeout",
    "time",
    "stdbuf",
    "setsid",
    "flock",
    "watch",
    "script",
    "unshare",
    "nsenter",
    "chroot",
    "bwrap",
    "firejail",
    "strace",
    "ltrace",
    "gdb",
    "xargs",
    "parallel",
    "find",
    "fd",
    "sh",
    "bash",
    "dash",
    "ash",
    "zsh",
    "ksh",
    "mksh",
    "fish",
    "busybox",
    "toybox",
    "ssh",
    "trap",
    "systemd-run",
    "dbus-run-session",
    "xvfb-run",
    "pwsh",
    "powershell",
    "cmd",
    "wsl",
    "docker",
    "podman",
    "kubectl",
    "npx",
    "bunx",
    "uvx",
    "pipx",
];

/// Options and sub-commands of git that run what follows.
const GIT_RUNS: &[&str] = &[
    "-c",
    "--config-env",
    "foreach",
    "run",
    "--exec",
    "-x",
    "--tree-filter",
    "--index-filter",
];

/// Options of `find` and `fd` that run what follows.
const FIND_RUNS: &[&str] = &[
    "-exec",
    "-execdir",
    "-ok",
    "-okdir",
    "-x",
    "-X",
    "--exec",
    "--exec-batch",
];

/// Options of `find` that write or delete.
const FIND_WRITES: &[&str] = &["-delete", "-fprint", "-fprint0", "-fprintf", "-fls"];

/// Shells.
const SHELLS: &[&str] = &[
    "sh",
    "bash",
    "dash",
    "ash",
    "zsh",
    "ksh",
    "mksh",
    "fish",
    "pwsh",
    "powershell",
    "cmd",
];

/// Interpreters that run the text after one of these options.
const INTERPRETERS: &[(&str, &[&str])] = &[
    ("python", &["-c"]),
    ("node", &["-e", "--eval", "-p", "--print"]),
    ("deno", &["eval"]),
    ("bun", &["-e", "--eval"]),
    ("perl", &["-e", "-E"]),
    ("ruby", &["-e"]),
    ("php", &["-r"]),
    ("lua", &["-e"]),
    ("osascript", &["-e"]),
];

/// Programs that always run, or can run, what they are given.
const TEXT_RUNNERS: &[&str] = &[
    "eval", "xargs", "parallel", "ssh", "awk", "gawk", "mawk", "trap", "source", ".", "watch", "script",
    "npx", "bunx", "uvx", "pipx",
];

/// Programs that run another one with other rights.
const RAISERS: &[&str] = &[
    "sudo", "doas", "pkexec", "su", "run0", "runuser", "runas", "gosu", "setpriv",
];

/// Ours.
const OWN: &[&str] = &["cairn", "cairn-desktop"];

/// Variables that decide which program or library really runs. Whole names, and beginnings that end in `*`.
const LOADED: &[&str] = &[
    "PATH",
    "IFS",
    "ENV",
    "BASH_ENV",
    "BASH_FUNC_*",
    "SHELLOPTS",
    "BASHOPTS",
    "PROMPT_COMMAND",
    "PS4",
    "CDPATH",
    "LD_*",
    "DYLD_*",
    "GIT_*",
    "PAGER",
    "MANPAGER",
    "LESSOPEN",
    "LESSCLOSE",
    "EDITOR",
    "VISUAL",
    "BROWSER",
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
    "RUSTC*",
    "RUSTDOC",
    "RUSTFLAGS",
    "CARGO_BUILD_*",
    "CARGO_TARGET_*",
    "CARGO_HOME",
    "CARGO_ALIAS_*",
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONSTARTUP",
    "PYTHONINSPECT",
    "NODE_OPTIONS",
    "NODE_PATH",
    "NPM_CONFIG_*",
    "PERL5LIB",
    "PERL5OPT",
    "RUBYOPT",
    "RUBYLIB",
    "GOFLAGS",
    "GOROOT",
    "CC",
    "CXX",
    "MAKEFLAGS",
    "JAVA_TOOL_OPTIONS",
    "MAVEN_OPTS",
    "GRADLE_OPTS",
    "RIPGREP_CONFIG_PATH",
    "CAIRN_*",
    "HOME",
    "XDG_*",
    "SHELL",
];

/// The last part of a program's path, without the ending Windows adds.
pub(super) fn base_name(program: &str) -> String {
    let last = program
        .rsplit(['/', '\\'])
        .next()
        .unwrap_or_default()
        .to_lowercase();
    last.strip_suffix(".exe").map(ToOwned::to_owned).unwrap_or(last)
}

pub(super) fn is_shell_word(word: &str) -> bool {
    SHELL_WORDS.contains(&word)
}

/// Whether the words `NAME=value` after this program set variables.
pub(super) fn assigns(program: &str) -> bool {
    matches!(
        base_name(program).as_str(),
        "env" | "export" | "declare" | "typeset" | "local" | "readonly" | "alias" | "sudo" | "doas"
    )
}

/// Where among a command's words another command may begin. Which argument of a wrapper does depends on its options,
/// so all of them may; `find` says where.
pub(super) fn inner_starts(command: &[String]) -> Vec<usize> {
    let Some((program, arguments)) = command.split_first() else {
        return Vec::new();
    };
    let name = base_name(program);
    let finds = matches!(name.as_str(), "find" | "fd");
    let wraps = match name.as_str() {
        "git" => arguments
            .iter()
            .any(|argument| GIT_RUNS.contains(&argument.as_str())),
        name => WRAPPERS.contains(&name),
    };
    if !wraps {
        return Vec::new();
    }
    let before = |at: usize| {
        command
            .get(at.saturating_sub(1))
            .map(String::as_str)
            .unwrap_or_default()
    };
    let begins = |at: &usize| {
        let word = command.get(*at).map(String::as_str).unwrap_or_default();
        !word.starts_with('-')
            && !matches!(word, "." | ".." | "{}" | ";")
            && (!finds || FIND_RUNS.contains(&before(*at)))
    };
    (1..command.len()).filter(begins).collect()
}

/// The name of the program, if it is one of ours.
pub(super) fn own(command: &[String]) -> Option<String> {
    named(command, OWN)
}

/// The name of the program, if it runs another one with other rights.
pub(super) fn raises_rights(command: &[String]) -> Option<String> {
    named(command, RAISERS)
}

/// The name of the program, if it runs text it is given: `sh -c`, `python -c`, `xargs`, `find -exec`, a shell at the
/// end of a pipe. Cases P19 to P34, X75.
pub(super) fn runs_given_text(command: &[String]) -> Option<String> {
    let (program, arguments) = command.split_first()?;
    let name = base_name(program);
    let has = |options: &[&str]| {
        arguments.iter().any(|argument| {
            options
                .iter()
                .any(|option| argument == option || is_cluster(argument, option))
        })
    };
    let shell = SHELLS.contains(&name.as_str())
        && (has(&["-c", "-command", "/c"]) || !arguments.iter().any(|a| !a.starts_with('-')));
    let interpreter = INTERPRETERS
        .iter()
        .any(|(known, options)| is_version_of(&name, known) && (has(options) || arguments.is_empty()));
    let find = matches!(name.as_str(), "find" | "fd") && (has(FIND_RUNS) || has(FIND_WRITES));
    let found = shell || interpreter || find || TEXT_RUNNERS.contains(&name.as_str());
    found.then_some(name)
}

/// Whether setting that variable decides which program or library really runs. Cases S25 to S29.
pub(super) fn changes_what_runs(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    LOADED.iter().any(|known| match known.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == *known,
    })
}

fn named(command: &[String], names: &[&str]) -> Option<String> {
    let name = base_name(command.first()?);
    names.contains(&name.as_str()).then_some(name)
}

/// `-lc` holds `-c`.
fn is_cluster(argument: &str, option: &str) -> bool {
    let (Some(letters), Some(letter)) = (argument.strip_prefix('-'), option.strip_prefix('-')) else {
        return false;
    };
    letter.len() == 1
        && letters.len() > 1
        && !letters.starts_with('-')
        && letters.ends_with(letter)
        && letters.len() <= 4
}

/// `python3.11` is a version of `python`.
fn is_version_of(name: &str, known: &str) -> bool {
    name.strip_prefix(known)
        .is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit() || b == b'.'))
}
