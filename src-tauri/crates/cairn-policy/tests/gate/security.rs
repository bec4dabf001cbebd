//! The attacks on the gate, by their ids. Sandbox off, standing grants as in the cases.

use cairn_policy::{Decision, Found as Named, Repository, RuleSet};

use crate::fixture::{
    GRANTS, asked, decided, effect_on, granted, machine, offers, policy, runs, word, word_of,
};

/// Each line asks, and what is offered for ever is at most the exact line.
fn all_ask(lines: &[&str]) {
    for line in lines {
        assert_eq!(word(&policy(GRANTS), line), "ask", "{line:?}");
        for offer in offers(&policy(GRANTS), line) {
            assert_eq!(offer, format!("run-exact: {line}"), "{line:?}");
        }
    }
}

fn all_run(lines: &[&str]) {
    for line in lines {
        assert_eq!(
            word(&policy(GRANTS), line),
            "auto",
            "{line:?}: {:?}",
            decided(&policy(GRANTS), line)
        );
    }
}

#[test]
fn s04_to_s13_lists_pipes_and_substitutions_ask() {
    all_ask(&[
        "cargo test && touch /tmp/canary",
        "cargo test || touch /tmp/canary",
        "cargo test | touch /tmp/canary",
        "cargo test & touch /tmp/canary",
        "cargo test |& touch /tmp/canary",
        "echo $(touch /tmp/canary)",
        "echo `touch /tmp/canary`",
        "echo \"$(touch /tmp/canary)\"",
        "echo \"`touch /tmp/canary`\"",
    ]);
}

#[test]
fn s14_what_stands_in_single_quotes_is_text() {
    all_run(&[
        "echo '$(touch /tmp/canary)'",
        "echo '`touch /tmp/canary`; touch x'",
        "echo \"a && touch x\"",
    ]);
    assert_eq!(
        runs(&policy(GRANTS), "echo '$(touch /tmp/canary)'").as_deref(),
        Some("echo '$(touch /tmp/canary)'")
    );
}

#[test]
fn s18_to_s23_here_documents_ask() {
    all_ask(&[
        "cat <<EOF\n$(touch /tmp/canary)\nEOF",
        "cat <<EOF\n`touch /tmp/canary`\nEOF",
        "cat <<'EOF'\n$(x)\nEOF",
        "cat <<'A' 2>&1 | touch /tmp/canary\nx\nA",
        "cat <<A <<B\na\nA\nb\nB\ntouch /tmp/canary",
        "cat <<'E''OF'\n$(x)\nEOF\ntouch /tmp/canary",
        "cat <<<\"$(touch /tmp/canary)\"",
    ]);
}

#[test]
fn s24_s25_s26_s27_s28_s29_assignments_ask_unless_harmless() {
    all_run(&[
        "RUST_BACKTRACE=1 cargo test",
        "CI=1 NO_COLOR=1 cargo test",
        "LANG=C TERM=dumb ls",
    ]);
    all_ask(&["FOO=bar cargo test"]);
    for line in [
        "LD_PRELOAD=/w/p/x.so ls",
        "PATH=. ls",
        "GIT_EXTERNAL_DIFF=./x git diff",
        "RUSTC_WRAPPER=./x cargo build",
        "BASH_ENV=./x bash -c ls",
    ] {
        assert_eq!(word(&policy(GRANTS), line), "ask", "{line}");
        assert!(offers(&policy(GRANTS), line).is_empty(), "{line}");
        // Also where a rule was written down for it.
        let exact = format!("run-exact: {line}");
        assert_eq!(word(&policy(&[&exact]), line), "ask", "{line}");
    }
}

#[test]
fn s31_to_s43_groups_functions_and_builtins_that_run_text_ask() {
    all_ask(&[
        "(touch /tmp/canary)",
        "{ touch /tmp/canary; }",
        "if true;then touch /tmp/canary;fi",
        "for i in 1;do touch /tmp/canary;done",
        "ls() { touch /tmp/canary; }; ls",
        "export PATH=/w/p/bin:$PATH",
        "eval 'touch /tmp/canary'",
        "command touch /tmp/canary",
        "exec touch /tmp/canary",
        "builtin eval 'touch /tmp/canary'",
        ". ./x.sh",
        "trap 'touch /tmp/canary' EXIT",
        "command ls",
        "exec ls",
    ]);
    assert_eq!(word(&policy(GRANTS), "alias ls='touch /tmp/canary'\nls"), "ask");
}

#[test]
fn s44_builtins_that_evaluate_their_arguments_never_run_unasked() {
    all_ask(&[
        "test -v 'a[$(touch /tmp/canary)]'",
        "test -R 'a[$(x)]'",
        "[ -v 'a[$(x)]' ]",
        "printf -v 'a[$(x)]' y",
        "read 'a[$(x)]'",
        "[[ 'a[$(x)]' -eq 1 ]]",
        "declare -i 'a=b[$(x)]'",
        "let 'a[$(x)]=1'",
        "echo ${x@P}",
        "test 'a[$(x)]' -eq 1",
        "test x -a -v 'a[$(x)]'",
        "unset 'a[$(x)]'",
        "export 'a[$(x)]=1'",
        "mapfile -t x",
    ]);
    all_run(&["test -f README.md", "test 3 -gt 2", "printf '%s\\n' x"]);
}

#[test]
fn s50_to_s56_redirections_are_writes() {
    for line in [
        "ls > /h/u/.bashrc",
        "ls >| f",
        "ls &> f",
        "ls <> f",
        "> f",
        "1>f ls",
        "ls {fd}>f",
        "ls >> f",
        "ls 2> f",
        "cat < .env",
        "cat < /h/u/.ssh/id_rsa",
    ] {
        assert_eq!(word(&policy(GRANTS), line), "ask", "{line}");
    }
    let why = asked(&policy(GRANTS), "ls > /h/u/.bashrc").why.join(" ");
    assert!(why.contains("~/.bashrc") && why.contains("protected"), "{why}");
    // With the write allowed as well, it may.
    let mut both = GRANTS.to_vec();
    both.push("write: /f");
    assert_eq!(word(&policy(&both), "1>f ls"), "auto");
    assert_eq!(
        word(&policy(&both), "ls > link/f"),
        "ask",
        "the real path decides"
    );
    assert_eq!(
        offers(&policy(GRANTS), "ls > docs/new"),
        ["write: /docs/new", "write: **"]
    );
}

#[test]
fn s57_s58_joined_and_discarded_output_is_no_write() {
    all_run(&[
        "cargo test 2>&1",
        "cargo test >/dev/null 2>&1",
        "cargo test 2>/dev/null",
        "cargo test 2>&1 | tail -5",
    ]);
    assert_eq!(
        runs(&policy(GRANTS), "cargo   test  2>&1|tail -5").as_deref(),
        Some("cargo test 2>&1 | tail -5")
    );
}

#[test]
fn s59_quoting_the_program_changes_nothing_or_asks() {
    all_run(&["l\\s", "l\"s\"", "'ls'"]);
    all_ask(&["$'\\x6cs'", "l$@s"]);
}

#[test]
fn s60_to_s63_the_shells_own_words_ask_and_deny_rules_reach_every_place() {
    all_ask(&[
        "time touch /tmp/canary",
        "coproc touch /tmp/canary",
        "! ! touch /tmp/canary",
    ]);
    let long = format!("{}touch /tmp/canary", "true && ".repeat(60));
    assert_eq!(word(&policy(GRANTS), &long), "ask");
    let mut denying = policy(GRANTS);
    denying.rules = RuleSet {
        deny: granted(&["run: touch"]),
        ..denying.rules
    };
    for line in [
        long.as_str(),
        "/bin/touch x",
        "timeout 5 touch x",
        "t\\ouch x",
        "'touch' x",
        "env touch x",
        "sh -c 'touch x'",
        "ls | xargs touch",
        "nice -n 5 touch x",
        "(touch x)",
    ] {
        assert_eq!(word(&denying, line), "deny", "{line}");
    }
}

#[test]
fn s64_to_s67_long_and_deep_lines_ask_or_are_refused() {
    assert_eq!(
        word(&policy(GRANTS), &format!("echo {}", "a".repeat(200_000))),
        "ask"
    );
    let why = asked(&policy(GRANTS), &format!("echo {}", "a".repeat(200_000)))
        .why
        .join(" ");
    assert!(why.contains("too long"), "{why}");
    for line in [
        "$(".repeat(100) + "a" + &")".repeat(100),
        "{ ".repeat(100),
        "${x:-".repeat(100),
    ] {
        assert_eq!(word(&policy(GRANTS), &line), "deny");
    }
    for opening in ["$(", "{ ", "${x:-"] {
        assert_ne!(word(&policy(GRANTS), &opening.repeat(20_000)), "auto");
    }
}

#[test]
fn s68_s69_paths_are_judged_where_the_line_has_changed_to() {
    for line in [
        "cd .git && echo x > hooks/pre-commit",
        "cd /h/u/.ssh && cat id_rsa",
        "cd .. && cat x",
        "cd link && cat id_rsa",
        "cd src; cd ..; cat ../x",
        "cd - && ls",
        "cd && ls",
        "cd src | cat .env",
        "false || cd src && cat ../../x",
        "cd missing; cat ../x",
        "cd src && cat ../../x",
    ] {
        assert_eq!(word(&policy(GRANTS), line), "ask", "{line}");
    }
    let why = asked(&policy(GRANTS), "cd .git && echo x > hooks/pre-commit")
        .why
        .join(" ");
    assert!(why.contains(".git/hooks/pre-commit"), "{why}");
    all_run(&[
        "cd src && cat main.rs",
        "cd src && cargo test && cd .. && cat README.md",
        "cd src\nls",
        "cd src; cargo test 2>&1 | tail",
    ]);
}

#[test]
fn s70_blanks_that_are_none_make_another_word() {
    all_ask(&["cargo\u{b}test", "cargo\u{c}test", "cargo\u{a0}test"]);
}

#[test]
fn s71_to_s76_comments_and_quotes_hide_nothing() {
    all_ask(&[
        "echo a#b; touch /tmp/canary",
        "echo ''#; touch /tmp/canary",
        "echo # x\\\ntouch /tmp/canary",
        "echo \"\\\"\"; touch /tmp/canary",
        "echo \\'; touch /tmp/canary # '",
        "echo $'\\''; touch /tmp/canary #'",
    ]);
}

#[test]
fn s77_s79_globs_and_open_quotes_ask() {
    all_ask(&["echo *", "rm *", "ls *.rs", "cat src/[ab]", "echo 'x"]);
}

#[test]
fn s78_a_nul_byte_is_refused() {
    assert_eq!(word(&policy(GRANTS), "ls\0"), "deny");
}

#[test]
fn p01_to_p04_raised_rights_ask_and_are_never_offered() {
    for line in ["sudo ls", "doas ls", "pkexec ls", "su -c ls", "timeout 5 sudo ls"] {
        assert_eq!(word(&policy(GRANTS), line), "ask", "{line}");
        assert!(offers(&policy(GRANTS), line).is_empty(), "{line}");
        assert_eq!(
            word(
                &policy(&["run: sudo", "run: doas", "run: pkexec", "run: su"]),
                line
            ),
            "ask",
            "{line}"
        );
    }
}

#[test]
fn p05_p06_p07_p08_p09_wrappers_are_seen_through_or_ask() {
    all_run(&[
        "timeout 5 cargo test",
        "nice -n 5 cargo build",
        "timeout -k 5 10m nice cargo test",
        "stdbuf -oL ls",
    ]);
    all_ask(&[
        "env touch /tmp/canary",
        "env -S 'touch /tmp/canary'",
        "env -u X -i touch /tmp/canary",
        "env ls",
        "timeout -s KILL --foreground 5 touch /tmp/canary",
        "timeout 5 env ls",
        "timeout x ls",
    ]);
    let why = asked(&policy(&["run: env", "run: timeout", "run: xargs"]), "env ls")
        .why
        .join(" ");
    assert!(why.contains("env can run"), "{why}");
}

#[test]
fn p10_to_p21_other_wrappers_ask() {
    let lines = [
        "nice -n 5 touch /tmp/canary",
        "nohup touch /tmp/canary &",
        "stdbuf -oL touch /tmp/canary",
        "setsid touch /tmp/canary",
        "ionice -c3 touch /tmp/canary",
        "flock f touch /tmp/canary",
        "watch touch /tmp/canary",
        "script -c 'touch /tmp/canary' f",
        "unshare touch /tmp/canary",
        "echo x | xargs touch /tmp/canary",
        "xargs -I{} sh -c 'touch {}'",
        "parallel touch ::: /tmp/canary",
    ];
    all_ask(&lines);
    // Rules about the wrapper's own name cover none of it.
    let rules = [
        "run: flock",
        "run: watch",
        "run: xargs",
        "run: parallel",
        "run: setsid",
        "run: unshare",
        "run: script",
    ];
    for line in lines {
        assert_eq!(word(&policy(&rules), line), "ask", "{line}");
    }
}

#[test]
fn p22_to_p32_shells_and_interpreters_are_covered_by_no_rule_about_their_name() {
    let lines = [
        "sh -c 'cargo test'",
        "sh -c 'touch /tmp/canary'",
        "bash -lc \"touch /tmp/canary\"",
        "bash <<< 'touch x'",
        "echo dG91Y2g= | base64 -d | sh",
        "python3 -c 'open(\"/tmp/canary\",\"w\")'",
        "node -e 1",
        "perl -e 1",
        "ruby -e 1",
        "awk 'BEGIN{system(\"touch /tmp/canary\")}'",
        "awk 'BEGIN{print 1 > \"/tmp/canary\"}'",
    ];
    all_ask(&lines);
    let rules = [
        "run: sh",
        "run: bash",
        "run: python3",
        "run: python",
        "run: node",
        "run: perl",
        "run: ruby",
        "run: awk",
        "run: echo",
        "run: base64",
        "run: sh -c",
        "run: python3 -c",
    ];
    for line in lines {
        assert_eq!(word(&policy(&rules), line), "ask", "{line}");
    }
    assert_eq!(
        word(&policy(&["run-exact: python3 --version"]), "python3 --version"),
        "auto"
    );
    assert_eq!(word(&policy(&["run: python3 --version"]), "python3 -c 1"), "ask");
}

#[test]
fn p33_to_p44_find_and_rg_ask_with_options_that_run_or_write() {
    all_ask(&[
        "find . -exec touch /tmp/canary \\;",
        "find . -execdir touch x \\;",
        "find . -ok touch x \\;",
        "find . -delete",
        "find . -fprint /tmp/canary",
        "find . -fls f",
        "find . -files0-from f",
        "rg --pre ./x pat",
        "rg --pre=./x pat",
        "rg --hostname-bin ./x pat",
        "rg -z pat",
        "rg --search-zip pat",
    ]);
    all_run(&[
        "find . -name '*.rs' -type f",
        "rg -n main src/main.rs",
        "grep -n main src/main.rs",
    ]);
}

#[test]
fn p45_a_configuration_of_ripgrep_cannot_be_named() {
    assert_eq!(word(&policy(GRANTS), "RIPGREP_CONFIG_PATH=./rc rg x"), "ask");
    assert!(offers(&policy(GRANTS), "RIPGREP_CONFIG_PATH=./rc rg x").is_empty());
}

#[test]
fn p46_to_p71_programs_that_can_write_or_run_ask() {
    let lines = [
        "sed -n 'w /tmp/canary' f",
        "sed 's/b/c/w /tmp/canary' f",
        "sed '1e touch /tmp/canary' f",
        "sed -i s/a/b/ f",
        "sed -f x.sed f",
        "sort -o /tmp/canary f",
        "sort --compress-program=./x f",
        "uniq f /tmp/canary",
        "xxd f /tmp/canary",
        "tee /tmp/canary",
        "tree -o f",
        "base64 -o f",
        "tar --checkpoint=1 --checkpoint-action=exec=./x -cf a b",
        "tar --to-command=x -xf a",
        "tar -I ./x -xf a",
        "zip -TT ./x a b",
        "rsync -e ./x a b",
        "ssh -oProxyCommand=./x h",
        "curl -K f",
        "curl -o f http://x",
        "curl --output-dir d http://x",
        "wget --use-askpass=./x http://x",
        "wget -e x=y http://x",
        "less f",
        "man --html=./x ls",
        "history -s 'x'; history -a ~/.bashrc",
        "vim -c ':!x'",
        "make -f evil.mk",
        "npm run x",
        "npx pkg",
        "cargo run",
    ];
    let rules = [
        "run: sed",
        "run: sort",
        "run: uniq",
        "run: xxd",
        "run: tee",
        "run: tree",
        "run: base64",
        "run: tar",
        "run: zip",
        "run: rsync",
        "run: ssh",
        "run: curl",
        "run: wget",
        "run: less",
        "run: man",
        "run: history",
        "run: vim",
        "run: make",
        "run: npx",
        "run: npm test",
        "run: cargo test",
    ];
    for line in lines {
        assert_eq!(word(&policy(&rules), line), "ask", "{line}");
        assert_eq!(word(&policy(GRANTS), line), "ask", "{line}");
    }
}

#[test]
fn p72_p73_a_program_by_path_or_inside_the_project_is_not_the_program_by_name() {
    all_ask(&["./cargo test", "/w/p/bin/cargo test", "/usr/bin/ls"]);
    let mut shadowed = machine();
    shadowed
        .shadowed
        .push(("ls".to_owned(), "/w/p/node_modules/.bin/ls".into()));
    let decision = cairn_policy::decide(&policy(GRANTS), &[effect_on(&shadowed, "ls")]);
    let Decision::Ask(asked) = decision else {
        panic!("{decision:?}")
    };
    assert!(
        asked.why.join(" ").contains("node_modules/.bin/ls"),
        "{:?}",
        asked.why
    );
    // Not by the exact line either, which was saved when the name still meant the system's program.
    let exact = cairn_policy::decide(&policy(&["run-exact: ls"]), &[effect_on(&shadowed, "ls")]);
    assert_eq!(word_of(&exact), "ask");
    let mut linked = machine();
    linked.shadowed.push(("helper".to_owned(), "/opt/cairn".into()));
    let ours = cairn_policy::decide(&policy(&["run: helper"]), &[effect_on(&linked, "helper exec x")]);
    assert_eq!(word_of(&ours), "ask", "a link to our own program");
    assert!(matches!(
        cairn_policy::Surroundings::program(&linked, "nothing"),
        Some(Named::Program(_))
    ));
}

#[test]
fn p74_rules_about_building_say_that_they_run_code_of_the_project() {
    let Decision::Ask(asked) = decided(&policy(&[]), "cargo test") else {
        panic!()
    };
    assert_eq!(asked.offers[0].rule, "run: cargo test");
    assert!(
        asked.offers[0].meaning.contains("run code from this project"),
        "{}",
        asked.offers[0].meaning
    );
}

#[test]
fn p75_p76_p77_options_that_name_a_program_ask() {
    all_ask(&[
        "cargo test --config 'build.rustc-wrapper=\"./x\"'",
        "cargo +./tc test",
        "cargo -Zunstable-options test",
        "cargo test -Zx",
        "cargo --config x test",
    ]);
}

#[test]
fn p78_what_tests_are_told_is_covered_as_code_of_the_project() {
    let rules = policy(&["run: npm test", "run: pytest"]);
    assert_eq!(word(&rules, "npm test -- --require ./x"), "auto");
    assert_eq!(word(&rules, "pytest -p evil"), "auto");
    assert_eq!(
        word(&rules, "pytest --basetemp=/h/u tests"),
        "ask",
        "but not outside the project"
    );
}

#[test]
fn g02b_g03_g04_g05_g05b_a_git_configuration_of_its_own_asks() {
    let mut custom = machine();
    custom.repository = Some(Repository::Custom("fsmonitor = ./h.sh".to_owned()));
    for line in [
        "git status",
        "git diff",
        "git log -p",
        "git show",
        "git blame f",
        "git add -A",
        "cd src && git status",
    ] {
        let mut rules = GRANTS.to_vec();
        rules.extend(["run: git log", "run: git show", "run: git blame", "run: git add"]);
        let decision = cairn_policy::decide(&policy(&rules), &[effect_on(&custom, line)]);
        let Decision::Ask(asked) = decision else {
            panic!("{line}")
        };
        assert!(
            asked.why.join(" ").contains("configuration of its own"),
            "{line}: {:?}",
            asked.why
        );
    }
    all_run(&["git status", "git diff --stat"]);
}

#[test]
fn g06_g07_g08_aliases_global_options_and_dangerous_ones_ask() {
    all_ask(&[
        "git st",
        "git -C /other status",
        "git --git-dir=x status",
        "git -p status",
        "git --paginate status",
        "git --exec-path=./x status",
    ]);
    let rules = [
        "run: git status",
        "run: git diff",
        "run: git fetch",
        "run: git ls-remote",
        "run: git archive",
        "run: git grep",
        "run: git clone",
        "run: git rebase",
        "run: git bisect",
    ];
    for line in [
        "git -c alias.z='!touch /tmp/canary' z",
        "git -c core.pager=x log",
        "git --config-env=a=b status",
        "git grep -O./h.sh b",
        "git diff --output=/tmp/canary",
        "git archive --output=x HEAD",
        "git ls-remote --upload-pack=./x .",
        "git ls-remote --upload-pa=./x .",
        "git difftool -x x",
        "git bisect run ./x",
        "git rebase --exec x",
        "git submodule foreach x",
        "git filter-branch",
        "git fetch ext::sh",
        "git clone -c a=b c",
        "git config a b",
        "git worktree add x",
        "git diff --ext-diff",
        "git fetch --upload-pack=./x",
    ] {
        assert_eq!(word(&policy(&rules), line), "ask", "{line}");
    }
}

#[test]
fn g09_a_commit_that_would_run_a_hook_asks_and_names_it() {
    let mut hooked = machine();
    hooked.repository = Some(Repository::Plain {
        hooks: vec!["pre-commit".to_owned()],
    });
    let rules = policy(&["run: git commit", "run: git status"]);
    let decide = |line: &str| cairn_policy::decide(&rules, &[effect_on(&hooked, line)]);
    let Decision::Ask(asked) = decide("git commit -m x") else {
        panic!()
    };
    assert!(
        asked.why.join(" ").contains(".git/hooks/pre-commit"),
        "{:?}",
        asked.why
    );
    assert_eq!(word_of(&decide("git status")), "auto");
    assert_eq!(word(&rules, "git commit -m x"), "auto");
}

#[test]
fn g14_destructive_git_asks_whatever_was_granted() {
    let rules = policy(&[
        "run: git",
        "run: git push",
        "run: git reset",
        "run: git checkout",
        "run: git clean",
        "run: git branch",
        "run: git stash",
    ]);
    for line in [
        "git push --force",
        "git reset --hard",
        "git checkout -- .",
        "git clean -fd",
        "git branch -D x",
        "git stash drop",
    ] {
        let asked = asked(&rules, line);
        assert!(
            asked.loss.is_some() && asked.offers.is_empty() && !asked.filled,
            "{line}"
        );
    }
}

#[test]
fn f15_credentials_ask_through_the_shell_too() {
    for line in [
        "cat .env",
        "grep KEY .env",
        "head .env",
        "cat /h/u/.ssh/id_rsa",
        "cat link/id_rsa",
        "cat src/../.env",
        "ls && cat .env",
        "cat /proc/self/environ",
    ] {
        let mut rules = GRANTS.to_vec();
        rules.push("run: head");
        assert_eq!(word(&policy(&rules), line), "ask", "{line}");
    }
    // A search could print them, and nothing holds it in here.
    all_ask(&["grep -r KEY ."]);
}

#[test]
fn t16_a_rule_that_is_gone_is_not_honoured() {
    assert_eq!(word(&policy(&["run: cargo test"]), "cargo test"), "auto");
    assert_eq!(word(&policy(&[]), "cargo test"), "ask");
    let mut broken = policy(&["run: cargo test"]);
    broken.rules.broken = Some("line 3".to_owned());
    assert_eq!(word(&broken, "cargo test"), "ask");
}

#[test]
fn bad_input_asks_and_says_why() {
    let long = format!("cargo test {}", "a".repeat(200_000));
    let deep = "(".repeat(20_000);
    for (line, says) in [
        (long.as_str(), "too long"),
        (deep.as_str(), "too long"),
        ("cargo test \u{202e}x", "hidden or misleading"),
        ("c\u{430}rgo test", "hidden or misleading"),
    ] {
        let asked = asked(&policy(GRANTS), line);
        assert!(asked.why.join(" ").contains(says), "{:?}", asked.why);
        assert!(asked.offers.is_empty() && !asked.filled);
    }
    let Decision::Deny { why, .. } = decided(&policy(GRANTS), "cargo test\0") else {
        panic!()
    };
    assert!(why.contains("NUL"), "{why}");
}

#[test]
fn long_lists_of_words_ask_and_say_so() {
    let many = format!("cat {}", "src/main.rs ".repeat(300));
    let asked = asked(&policy(GRANTS), &many);
    assert!(asked.why.join(" ").contains("more words"), "{:?}", asked.why);
    assert_eq!(
        word(&policy(GRANTS), &format!("cat {}", "src/main.rs ".repeat(150))),
        "auto"
    );
    let wrappers = "git -c a ".repeat(600);
    let asked = self::asked(&policy(GRANTS), &wrappers);
    assert!(
        asked.why.join(" ").contains("than can be judged"),
        "{:?}",
        asked.why
    );
    assert!(asked.offers.is_empty());
}
