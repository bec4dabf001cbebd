//! What is read, what is opaque, and that writing it down again says the same.

use proptest::prelude::*;

use super::{Joint, Script};

fn printed(line: &str) -> String {
    Script::read(line).map_or_else(|why| format!("opaque: {}", why.0), |script| script.to_string())
}

#[test]
fn plain_lines_are_read_and_written_in_one_form() {
    let table = [
        ("cargo test", "cargo test"),
        ("  cargo\t test  ", "cargo test"),
        ("a;b", "a; b"),
        ("a\nb\n\nc", "a; b; c"),
        ("a &&\n b||c|d", "a && b || c | d"),
        ("a;", "a"),
        ("l\\s", "ls"),
        ("l\"s\"", "ls"),
        ("'ls'", "ls"),
        ("echo 'a b' \"c d\"", "echo 'a b' 'c d'"),
        ("echo it\\'s", "echo 'it'\\''s'"),
        ("echo '$(touch x)'", "echo '$(touch x)'"),
        ("echo \"a\\\"b\\\\c\\d\"", "echo 'a\"b\\c\\d'"),
        ("grep \"foo$\" a", "grep 'foo$' a"),
        ("echo ''", "echo ''"),
        (
            "git show HEAD~1 stash@{0} HEAD^",
            "git show 'HEAD~1' 'stash@{0}' 'HEAD^'",
        ),
        ("cargo test 2>&1", "cargo test 2>&1"),
        ("cargo test >/dev/null 2>&1", "cargo test >/dev/null 2>&1"),
        (
            "2>&1 cargo test >> out 1>&2 <in 2> err",
            "cargo test 2>&1 >>out 1>&2 <in 2>err",
        ),
        ("echo 2 >x", "echo 2 >x"),
        ("echo '2'>x", "echo 2 >x"),
        ("echo a2>x", "echo a2 >x"),
        ("good >&2 evil", "good evil 1>&2"),
        ("CI=1 FOO='a b' cargo test", "CI=1 FOO='a b' cargo test"),
        ("make CC=x", "make CC=x"),
        ("'a=b' c", "'a=b' c"),
        ("# note\nls # more; touch x", "ls"),
        ("echo a#b ''#", "echo 'a#b' '#'"),
        ("a \\\n b", "a b"),
        ("[ -f x ] && ls", "[ -f x ] && ls"),
        ("echo é '\n'x", "echo 'é' '\nx'"),
        ("echo hi!", "echo 'hi!'"),
    ];
    for (line, expected) in table {
        assert_eq!(printed(line), expected, "{line:?}");
    }
}

#[test]
fn what_could_be_read_otherwise_is_opaque() {
    let lines = [
        "",
        " ",
        "# x",
        ";",
        ";;",
        "a;;b",
        "a & b",
        "a &",
        "a |& b",
        "a &&",
        "a || ",
        "a |",
        "&& a",
        "| a",
        "a\n&& b",
        "echo $x",
        "echo $(x)",
        "echo `x`",
        "echo \"$x\"",
        "echo \"`x`\"",
        "echo $'x'",
        "echo $\"x\"",
        "(a)",
        "{ a; }",
        "a() { b; }",
        "if a; then b; fi",
        "! a",
        "time a",
        "coproc a",
        "'if' a",
        "[[ a ]]",
        "((1))",
        "echo *",
        "echo ?",
        "echo [a]",
        "echo {a,b}",
        "echo {1..3}",
        "echo @{a,b}",
        "echo ~",
        "echo a=~",
        "echo a:~/x",
        "cat <<EOF\nx\nEOF",
        "cat <<<x",
        "cat <(x)",
        "a >(x)",
        "a >|f",
        "a &>f",
        "a <>f",
        "a {fd}>f",
        "> f",
        "a 3>f",
        "a 22>f",
        "a >",
        "a > ; b",
        "a 2>&-",
        "a >&2x",
        "a <&0",
        "a 2>&2",
        "FOO=1",
        "FOO=1; a",
        "a+=1 b",
        "a[0]=1 b",
        "echo 'x",
        "echo \"x",
        "echo x\\",
        "a\rb",
        "a\x0bb",
        "a\0",
        "'' a",
        "a >> > b",
        "a >''",
    ];
    for line in lines {
        assert!(Script::read(line).is_err(), "{line:?}: {:?}", Script::read(line));
    }
}

#[test]
fn s63_s64_lines_and_numbers_have_bounds() {
    assert!(Script::read(&format!("echo {}", "a".repeat(9_000))).is_err());
    let sixty_four = vec!["a"; 64].join(";");
    assert_eq!(
        Script::read(&sixty_four).map(|script| script.commands.len()),
        Ok(64)
    );
    assert!(Script::read(&format!("{sixty_four};a")).is_err());
}

#[test]
fn joints_say_how_a_command_follows() {
    let script = Script::read("a && b || c | d; e").unwrap();
    let joints: Vec<Joint> = script.commands.iter().map(|command| command.joint).collect();
    assert_eq!(
        joints,
        [Joint::Then, Joint::And, Joint::Or, Joint::Pipe, Joint::Then]
    );
}

proptest! {
    #[test]
    fn what_is_written_reads_back_the_same(pieces in prop::collection::vec(prop::sample::select(vec![
        "a", "b c", "'x y'", "\"q\"", "\\ ", " ", "\n", ";", "&&", "||", "|", "#", "=", "A=1 ", "2>&1", ">f", "<g", ">>", "~", "@{0}",
        "!", "[", "]", "^", "%", "é", "''", "\\\n", "-", "1", "2", "if", "$", "\"$\"",
    ]), 0..16)) {
        let line = pieces.concat();
        if let Ok(script) = Script::read(&line) {
            let again = Script::read(&script.to_string());
            prop_assert_eq!(again.as_ref(), Ok(&script), "{:?} as {}", line, script);
        }
    }

    #[test]
    fn reading_never_panics(line in "\\PC{0,80}") {
        let read = Script::read(&line);
        prop_assert!(read.map_or(true, |script| !script.to_string().is_empty()));
    }
}
