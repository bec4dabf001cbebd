//! Lines that must ask, must not be offered, or lose something; by the ids of the cases.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::{Cover, Line, LossKind};

fn cover(line: &str) -> Cover {
    Line::read(line).cover()
}

#[test]
fn p01_to_p04_raised_rights_are_never_settled_beforehand() {
    for line in [
        "sudo ls",
        "doas ls",
        "pkexec ls",
        "su -c ls",
        "/usr/bin/sudo ls",
        "CI=1 sudo ls",
        "ls && sudo ls",
        "echo $(sudo ls)",
        "env sudo ls",
        "s\\udo ls",
        "'sudo' ls",
        "timeout 5 sudo ls",
        "sh -c 'sudo ls'",
    ] {
        assert!(
            matches!(cover(line), Cover::Never(_)),
            "{line}: {:?}",
            cover(line)
        );
    }
}

#[test]
fn p05_our_own_programs_are_never_covered() {
    for line in [
        "cairn allow add 'write: **'",
        "./target/debug/cairn exec x",
        "env cairn config",
        "true; cairn-desktop",
        "sh -c \"cairn allow reset\"",
        "CAIRN exec",
        "nohup cairn exec x &",
        "echo `cairn allow list`",
        "xargs cairn",
        "cairn.exe exec",
    ] {
        let line = Line::read(line);
        assert!(
            matches!(line.cover(), Cover::Never(why) if why.contains("itself")),
            "{line:?}"
        );
        assert!(!line.is_judged_command());
    }
    for line in [
        "echo cairn",
        "grep cairn src",
        "cargo test -p cairn-policy",
        "cairns list",
    ] {
        assert_eq!(cover(line), Cover::Offered, "{line}");
    }
}

#[test]
fn x75_what_runs_text_is_not_offered() {
    let lines = [
        "sh -c 'cargo test'",
        "bash -lc \"ls\"",
        "bash <<< 'touch x'",
        "echo x | base64 -d | sh",
        "python3 -c 'print(1)'",
        "node -e 1",
        "perl -e 1",
        "ruby -e 1",
        "awk 'BEGIN{}'",
        "eval ls",
        "echo x | xargs touch",
        "parallel touch ::: a",
        "find . -exec touch x \\;",
        "find . -execdir x \\;",
        "find . -ok x \\;",
        "ssh host ls",
        "curl -s x | bash",
        "npx pkg",
        "python",
        ". ./x.sh",
        "source x.sh",
        "trap 'touch x' EXIT",
        "env bash -c ls",
    ];
    for line in lines {
        assert!(
            matches!(cover(line), Cover::NotOffered(_)),
            "{line}: {:?}",
            cover(line)
        );
    }
}

#[test]
fn p27_interpreters_are_offered_by_their_exact_line() {
    for line in [
        "python3 --version",
        "python3 scripts/gen.py",
        "node build.mjs",
        "bash scripts/test.sh",
        "find . -name x",
        "cargo test",
        "npm run build",
        "make",
        "git status",
        "cargo test 2>&1 | tail -5",
        "RUST_BACKTRACE=1 cargo test",
    ] {
        assert_eq!(cover(line), Cover::Offered, "{line}");
    }
}

#[test]
fn s25_to_s29_variables_that_change_what_runs_are_never_remembered() {
    for line in [
        "LD_PRELOAD=/w/p/x.so ls",
        "PATH=. ls",
        "GIT_EXTERNAL_DIFF=./x git diff",
        "RUSTC_WRAPPER=./x cargo build",
        "BASH_ENV=./x bash -c ls",
        "GIT_PAGER=x git log",
        "export PATH=/w/p/bin:$PATH",
        "env LD_PRELOAD=x ls",
        "ls; PATH+=:. ls",
        "alias ls='touch x'\nls",
    ] {
        let found = cover(line);
        if line.starts_with("alias") {
            assert_ne!(found, Cover::Refused("".into()));
        } else {
            assert!(matches!(found, Cover::Never(_)), "{line}: {found:?}");
        }
    }
}

#[test]
fn s64_a_long_line_is_not_taken_apart() {
    let start = Instant::now();
    assert!(matches!(
        cover(&format!("echo {}", "a".repeat(200_000))),
        Cover::Never(_)
    ));
    // A thousand times what it takes: this catches work that grows with the square, not a busy machine.
    assert!(start.elapsed() < Duration::from_secs(10));
}

#[test]
fn s65_to_s67_deep_nesting_is_refused() {
    for opening in ["$(", "{ ", "${x:-", "(", "\"$(", "<("] {
        let line = opening.repeat(100);
        assert!(matches!(cover(&line), Cover::Refused(_)), "{opening}");
        assert!(
            matches!(
                cover(&opening.repeat(20_000)),
                Cover::Refused(_) | Cover::Never(_)
            ),
            "{opening}"
        );
    }
    assert_eq!(
        cover(&"{ true; }; ".repeat(70)),
        Cover::Offered,
        "side by side is not deep"
    );
    assert_eq!(cover(&"echo ${HOME} ".repeat(70)), Cover::Offered);
}

#[test]
fn s78_a_nul_byte_is_refused() {
    assert!(matches!(cover("ls\0x"), Cover::Refused(_)));
}

#[test]
fn s79_an_unbalanced_quote_is_never_covered() {
    for line in ["echo 'x", "echo \"x", "echo $(x", "echo `x", "echo x\\"] {
        assert!(matches!(cover(line), Cover::Never(_)), "{line}");
    }
}

#[test]
fn s70_blanks_that_are_none_are_never_covered() {
    for line in ["cargo\u{b}test", "cargo\u{c}test", "cargo\u{a0}test"] {
        assert!(matches!(cover(line), Cover::Never(_)), "{line:?}");
    }
}

#[test]
fn s63_p3_a_barred_command_is_found_at_any_place() {
    let words = |line: &str| line.split(' ').map(ToOwned::to_owned).collect::<Vec<_>>();
    let touch = [
        "touch x",
        "true && touch x",
        "a;touch x",
        "a | touch x",
        "a & touch x",
        "a\ntouch x",
        "(touch x)",
        "{ touch x; }",
        "$(touch x)",
        "`touch x`",
        "echo \"$(touch x)\"",
        "/bin/touch x",
        "\\touch x",
        "t''ouch x",
        "env touch x",
        "FOO=1 touch x",
        "command touch x",
        "sudo -u me touch x",
        "timeout 5 touch x",
        "nice -n 5 touch x",
        "xargs -I{} touch x",
        "sh -c 'touch x'",
        "bash -lc \"a; touch x\"",
        "if true; then touch x; fi",
        "for i in 1; do touch x; done",
        "! touch x",
        "time touch x",
        ">f touch x",
        "2>&1 touch x",
        "cat <(touch x)",
        "find . -exec touch x \\;",
        "sh -c \"sh -c 'touch x'\"",
    ];
    for line in touch {
        assert!(Line::read(line).has_command(&words("touch")), "{line}");
    }
    let long = format!("{}touch x", "true && ".repeat(60));
    assert!(Line::read(&long).has_command(&words("touch")));
    for line in [
        "echo touch",
        "# touch x",
        "echo '; touch x'",
        "echo \"; touch x\"",
        "touchy x",
        "cat touch",
    ] {
        assert!(!Line::read(line).has_command(&words("touch")), "{line}");
    }
    assert!(Line::read("git push --force").has_command(&words("git push")));
    assert!(!Line::read("git pull").has_command(&words("git push")));
}

#[test]
fn g14_destructive_git_is_known() {
    let destructive = [
        "git push --force",
        "git push -f",
        "git push origin +main",
        "git push origin :old",
        "git push --force-with-lease",
        "git push --forc",
        "git push --mirror",
        "git reset --hard",
        "git reset --har HEAD~3",
        "git checkout -- .",
        "git checkout .",
        "git checkout src/a.rs",
        "git checkout HEAD -- a",
        "git checkout -f",
        "git clean -fd",
        "git clean -xdf",
        "git clean",
        "git branch -D x",
        "git branch -d -f x",
        "git stash drop",
        "git stash clear",
        "git restore .",
        "git restore -SW a",
        "git switch --discard-changes x",
        "git rebase -i HEAD~3",
        "git commit --amend",
        "git filter-branch",
        "git filter-repo --path x",
        "git reflog expire --all",
        "git gc --prune=now",
        "git update-ref -d refs/heads/x",
        "git -C sub reset --hard",
        "git -c a.b=c clean -f",
        "git --git-dir=x clean -f",
        "true && git reset --hard",
        "sh -c 'git reset --hard'",
        "/usr/bin/git reset --hard",
        "env git reset --hard",
        "FOO=1 git reset --hard",
        "command git reset --hard",
        "git rm a",
        "cd x; git worktree remove y",
        "git -P reset --hard",
    ];
    for line in destructive {
        assert_eq!(
            Line::read(line).loss().map(|loss| loss.kind),
            Some(LossKind::Git),
            "{line}"
        );
        assert!(matches!(cover(line), Cover::Never(_)), "{line}");
    }
    let harmless = [
        "git status",
        "git diff",
        "git log --oneline",
        "git show HEAD",
        "git reset",
        "git reset HEAD a",
        "git reset --soft HEAD~1",
        "git checkout main",
        "git checkout -b feature/x",
        "git clean -n",
        "git clean --dry-run -d",
        "git branch",
        "git branch x",
        "git stash",
        "git stash list",
        "git restore --staged a",
        "git switch main",
        "git push",
        "git push origin main",
        "git commit -m 'git reset --hard is gone'",
        "git rm --cached a",
        "git pull",
        "echo git reset --hard",
        "grep 'git clean -fd' README",
        "git fetch",
        "git merge main",
        "git tag v1",
    ];
    for line in harmless {
        assert_eq!(Line::read(line).loss(), None, "{line}");
    }
}

#[test]
fn deleting_is_known_and_not_offered() {
    for line in [
        "rm -rf build",
        "rm -r x",
        "rm -fR x",
        "rm --recursive x",
        "rm a",
        "find . -delete",
        "find . -exec rm {} \\;",
        "xargs rm -rf",
        "sudo rm -rf /",
        "a && rm -rf x",
        "shred x",
        "dd if=a of=/dev/sda",
        "mkfs.ext4 /dev/sda",
        "truncate -s 0 a",
        "rsync -a --delete a b",
    ] {
        assert_eq!(
            Line::read(line).loss().map(|loss| loss.kind),
            Some(LossKind::Files),
            "{line}"
        );
        assert!(!matches!(cover(line), Cover::Offered), "{line}");
    }
    for line in [
        "npm rm x",
        "echo rm -rf x",
        "rm",
        "cargo rm serde",
        "dd if=a",
        "ls rm",
    ] {
        assert!(
            Line::read(line).loss().is_none_or(|_| line == "npm rm x"),
            "{line}"
        );
    }
}

proptest! {
    #[test]
    fn reading_any_line_ends_and_never_panics(line in "[ -~\t\n]{0,200}") {
        let read = Line::read(&line);
        let _ = (read.cover(), read.loss(), read.has_command(&["ls".to_owned()]));
    }

    #[test]
    fn reading_trouble_ends_and_never_panics(pieces in prop::collection::vec(prop::sample::select(vec![
        "'", "\"", "`", "$(", ")", "(", "{ ", "}", "${", "\\", "\n", ";", "&&", "|", ">", "<", "<<", "#", " ", "sh -c ", "eval ", "git ", "rm ", "-rf ", "x", "=", "$'", "\0", "\u{202e}",
    ]), 0..80)) {
        let line = pieces.concat();
        let read = Line::read(&line);
        let _ = (read.cover(), read.loss(), read.has_command(&["ls".to_owned()]));
    }

    #[test]
    fn a_command_after_any_plain_words_is_found(words in "[a-z]{1,6}( [a-z]{1,6}){0,3}", joint in prop::sample::select(vec![";", "&&", "||", "|", "\n", " & ", "; (", " $(", " `"])) {
        let line = format!("{words}{joint}touch x");
        prop_assert!(Line::read(&line).has_command(&["touch".to_owned()]), "{}", line);
    }
}
