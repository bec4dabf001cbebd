//! The subcommands that only read, and the options they may have. An option that is not here asks.

/// One subcommand.
pub(super) struct Form {
    pub(super) name: &'static str,
    pub(super) options: &'static [&'static [Opt]],
    pub(super) content: Content,
}

/// When a subcommand prints what stands in files.
#[derive(Clone, Copy)]
pub(super) enum Content {
    Never,
    Always,
    /// With one of the options that make patches, or that tell which commits hold a text.
    WithPatch,
}

impl Content {
    pub(super) fn always(self) -> bool {
        matches!(self, Self::Always)
    }

    pub(super) fn by(self, option: &str) -> bool {
        let patch = [
            "-p",
            "--patch",
            "-u",
            "--raw",
            "--word-diff",
            "-U",
            "--unified",
            "-S",
            "-G",
        ];
        matches!(self, Self::WithPatch) && patch.iter().any(|known| option.starts_with(known))
    }
}

/// One option.
pub(super) enum Opt {
    /// The word as it stands.
    Word(&'static str),
    /// The word, then a number right after it: `-U3`, `--abbrev=8`, `-5` for an empty word before.
    Number(&'static str),
    /// The word with any plain value right after it: `--since=yesterday`.
    Value(&'static str),
    /// The word, its value in the next one.
    Next(&'static str),
    /// A format. `%G` would start a program to check signatures.
    Format(&'static str),
}

/// How a word fits an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fits {
    Not,
    Alone,
    TakesNext,
}

impl Opt {
    pub(super) fn fits(&self, word: &str) -> Fits {
        let yes = |fits| if fits { Fits::Alone } else { Fits::Not };
        match self {
            Self::Word(known) => yes(word == *known),
            Self::Number(before) => yes(word.strip_prefix(before).is_some_and(|rest| {
                !rest.is_empty() && rest.len() <= 9 && rest.bytes().all(|byte| byte.is_ascii_digit())
            })),
            Self::Value(before) => yes(word
                .strip_prefix(before)
                .is_some_and(|rest| !rest.is_empty() && super::is_plain(rest))),
            Self::Next(known) if word == *known => Fits::TakesNext,
            Self::Next(_) => Fits::Not,
            Self::Format(before) => yes(word
                .strip_prefix(before)
                .is_some_and(|rest| !rest.contains("%G") && super::is_plain(rest))),
        }
    }
}

use Opt::{Format, Next, Number, Value, Word};

/// How differences are shown.
const DIFF: &[Opt] = &[
    Word("-p"),
    Word("--patch"),
    Word("-u"),
    Word("-s"),
    Word("--no-patch"),
    Number("-U"),
    Number("--unified="),
    Word("--stat"),
    Value("--stat="),
    Word("--numstat"),
    Word("--shortstat"),
    Word("--summary"),
    Word("--name-only"),
    Word("--name-status"),
    Word("--raw"),
    Word("-z"),
    Word("--no-color"),
    Word("--full-index"),
    Number("--abbrev="),
    Word("-w"),
    Word("-b"),
    Word("--ignore-all-space"),
    Word("--ignore-space-change"),
    Word("--ignore-space-at-eol"),
    Word("--ignore-blank-lines"),
    Word("--word-diff"),
    Value("--word-diff="),
    Word("--minimal"),
    Word("--patience"),
    Word("--histogram"),
    Word("-M"),
    Number("-M"),
    Word("-C"),
    Number("-C"),
    Word("--find-renames"),
    Word("--no-renames"),
    Word("-R"),
    Value("--diff-filter="),
    Word("--no-prefix"),
    Word("--no-ext-diff"),
    Word("--no-textconv"),
    Word("--patch-with-stat"),
    Word("--compact-summary"),
];

/// Which commits are shown, and how.
const LOG: &[Opt] = &[
    Number("-"),
    Number("-n"),
    Next("-n"),
    Number("--max-count="),
    Number("--skip="),
    Word("--oneline"),
    Word("--graph"),
    Word("--decorate"),
    Value("--decorate="),
    Word("--no-decorate"),
    Word("--all"),
    Word("--branches"),
    Word("--tags"),
    Word("--remotes"),
    Value("--since="),
    Value("--after="),
    Value("--until="),
    Value("--before="),
    Value("--author="),
    Value("--committer="),
    Value("--grep="),
    Word("-i"),
    Word("--reverse"),
    Word("--follow"),
    Word("--first-parent"),
    Word("--merges"),
    Word("--no-merges"),
    Value("--date="),
    Word("--abbrev-commit"),
    Word("--no-abbrev-commit"),
    Word("--topo-order"),
    Word("--date-order"),
    Value("-S"),
    Value("-G"),
    Word("--pickaxe-all"),
    Word("--left-right"),
    Word("--cherry-pick"),
    Format("--format="),
    Format("--pretty="),
    Word("--full-history"),
    Word("--simplify-by-decoration"),
];

pub(super) const FORMS: &[Form] = &[
    Form {
        name: "status",
        content: Content::Never,
        options: &[&[
            Word("-s"),
            Word("--short"),
            Word("-b"),
            Word("--branch"),
            Word("-sb"),
            Word("--porcelain"),
            Word("--porcelain=v1"),
            Word("--porcelain=v2"),
            Word("--long"),
            Word("-u"),
            Word("-uno"),
            Word("-unormal"),
            Word("-uall"),
            Word("--untracked-files"),
            Word("--untracked-files=no"),
            Word("--untracked-files=normal"),
            Word("--untracked-files=all"),
            Word("--ignored"),
            Word("-z"),
            Word("--no-renames"),
            Word("--ahead-behind"),
            Word("--no-ahead-behind"),
            Word("--show-stash"),
        ]],
    },
    Form {
        name: "diff",
        content: Content::Always,
        options: &[DIFF, &[Word("--cached"), Word("--staged"), Word("--merge-base")]],
    },
    Form {
        name: "log",
        content: Content::WithPatch,
        options: &[DIFF, LOG],
    },
    Form {
        name: "show",
        content: Content::Always,
        options: &[DIFF, LOG],
    },
    Form {
        name: "blame",
        content: Content::Always,
        options: &[&[
            Next("-L"),
            Value("-L"),
            Word("-w"),
            Word("-M"),
            Word("-C"),
            Value("--date="),
            Word("-s"),
            Word("-l"),
            Word("-e"),
            Word("--porcelain"),
            Word("--line-porcelain"),
            Value("--since="),
            Word("-f"),
            Word("-n"),
        ]],
    },
    Form {
        name: "branch",
        content: Content::Never,
        options: &[&[
            Word("-a"),
            Word("--all"),
            Word("-r"),
            Word("--remotes"),
            Word("-v"),
            Word("-vv"),
            Word("-av"),
            Word("-avv"),
            Word("--list"),
            Word("-l"),
            Word("--show-current"),
            Word("--merged"),
            Word("--no-merged"),
            Word("--contains"),
            Word("--no-contains"),
            Value("--sort="),
            Word("--no-color"),
            Word("--no-column"),
        ]],
    },
    Form {
        name: "ls-files",
        content: Content::Never,
        options: &[&[
            Word("-s"),
            Word("--stage"),
            Word("-c"),
            Word("--cached"),
            Word("-m"),
            Word("--modified"),
            Word("-d"),
            Word("--deleted"),
            Word("-o"),
            Word("--others"),
            Word("-i"),
            Word("--ignored"),
            Word("--exclude-standard"),
            Word("-z"),
            Word("-t"),
            Word("--full-name"),
            Word("--eol"),
            Word("-u"),
            Word("--unmerged"),
            Word("--error-unmatch"),
        ]],
    },
    Form {
        name: "rev-parse",
        content: Content::Never,
        options: &[&[
            Word("--abbrev-ref"),
            Word("--show-toplevel"),
            Word("--show-prefix"),
            Word("--short"),
            Number("--short="),
            Word("--verify"),
            Word("-q"),
            Word("--quiet"),
            Word("--git-dir"),
            Word("--is-inside-work-tree"),
            Word("--is-bare-repository"),
            Word("--symbolic-full-name"),
        ]],
    },
];
