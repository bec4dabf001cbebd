use super::*;

fn read(line: &str) -> Option<GitRead> {
    git_read(&line.split(' ').map(str::to_owned).collect::<Vec<_>>())
}

#[test]
fn t23_forms_that_only_read() {
    for line in [
        "status",
        "status -s -b",
        "status --porcelain=v2 -- src",
        "diff",
        "diff --cached --stat",
        "diff HEAD~2..HEAD -U5 -- src/main.rs",
        "diff main...feature",
        "log --oneline -5",
        "log -n 3 --format=%h%x20%s",
        "log -p --since=yesterday src",
        "log -Sneedle",
        "show HEAD",
        "show --stat v1.0^{commit}",
        "blame -L 1,20 src/main.rs",
        "branch",
        "branch -a -v",
        "branch --list fix-1",
        "branch --contains HEAD",
        "ls-files -m -o --exclude-standard",
        "rev-parse --abbrev-ref HEAD",
    ] {
        assert!(read(line).is_some(), "{line}");
    }
}

#[test]
fn g06_g07_g08_everything_else_is_a_command() {
    for line in [
        "",
        "st",
        "commit -m x",
        "-c alias.z=!x z",
        "-c core.pager=x log",
        "--exec-path=./x status",
        "-C /other status",
        "--git-dir=x status",
        "-p status",
        "--paginate status",
        "--config-env=core.pager=X log",
        "grep -O./h.sh b",
        "diff --output=/tmp/canary",
        "diff --outpu=/tmp/canary",
        "diff --ext-diff",
        "diff --textconv",
        "diff --no-index a b",
        "log --ext-diff",
        "log --format=%G?",
        "log --pretty=%h%GS",
        "log --show-signature",
        "log --show-sig",
        "log --textco",
        "show HEAD:.env",
        "show HEAD:src/main.rs",
        "diff -- :(top)x",
        "diff -O./order",
        "log -n",
        "log -n --output=x",
        "log -L1,2:f",
        "log --stdin",
        "blame --contents x f",
        "blame -S revs f",
        "blame --ignore-revs-file=x f",
        "branch new",
        "branch -d old",
        "branch -D old",
        "branch -m a b",
        "branch --edit-description",
        "branch -f main HEAD",
        "branch --set-upstream-to=x",
        "ls-files --exclude-from=x",
        "ls-files --recurse-submodules",
        "ls-remote --upload-pack=./x .",
        "archive --output=x HEAD",
        "difftool -x y",
        "status --column",
        "status -v",
        "stash list",
        "config --list",
        "worktree list",
        "reset --hard",
        "clean -fd",
        "rev-parse --parseopt",
        "rev-parse --git-path x",
    ] {
        assert_eq!(read(line), None, "{line}");
    }
}

#[test]
fn contents_are_known_to_be_shown() {
    for (line, shows) in [
        ("status", false),
        ("diff --stat", true),
        ("log --oneline", false),
        ("log -p", true),
        ("log -U3", true),
        ("log --word-diff=plain", true),
        ("show HEAD", true),
        ("blame f", true),
    ] {
        assert_eq!(read(line).unwrap().shows_content, shows, "{line}");
    }
}

proptest::proptest! {
    /// Whatever the words, what is taken as reading begins with a listed subcommand and holds no option off the list.
    #[test]
    fn nothing_off_the_list_reads(words in proptest::collection::vec("[-a-z=:/. ]{0,14}", 0..6)) {
        if let Some(read) = git_read(&words) {
            proptest::prop_assert!(FORMS.iter().any(|form| form.name == words[0]));
            let all: Vec<&String> = read.options.iter().chain(&read.words).chain(&read.paths).collect();
            let dashes = usize::from(words.iter().any(|word| word == "--"));
            proptest::prop_assert_eq!(all.len() + 1 + dashes, words.len());
            proptest::prop_assert!(read.words.iter().all(|word| !word.starts_with('-')));
        }
    }
}
