use proptest::prelude::*;
use rusqlite::Connection;

use super::*;

fn marked(text: &str, typed: &str) -> String {
    excerpt(text, typed).replace('\u{2}', "[").replace('\u{3}', "]")
}

#[test]
fn excerpts_mark_every_spelling_of_the_words() {
    for (text, typed, expected) in [
        ("The Axis is wrong", "axis", "The [Axis] is wrong"),
        ("Größe und GROSSE", "grosse", "[Größe] und [GROSSE]"),
        (
            "call foo_bar(1), not foo or bar",
            "foo_bar",
            "call [foo_bar](1), not foo or bar",
        ),
        ("重构这个函数", "函数", "重构这个[函数]"),
        ("one\ntwo\tthree", "two", "one [two] three"),
        ("nothing here", "else", "nothing here"),
        ("cafe\u{301} au lait", "café", "[cafe\u{301}] au lait"),
    ] {
        assert_eq!(marked(text, typed), expected, "{typed:?} in {text:?}");
    }
}

#[test]
fn long_texts_are_cut_around_the_first_hit() {
    let text = format!("{} needle {}", "hay ".repeat(500), "straw ".repeat(500));
    let cut = marked(&text, "needle");
    assert!(
        cut.starts_with('…') && cut.ends_with('…') && cut.contains("[needle]"),
        "{cut}"
    );
    assert!(cut.chars().count() < EXCERPT + 10, "{cut}");
}

#[test]
fn marks_of_the_text_itself_are_not_taken_over() {
    assert_eq!(excerpt("a\u{2}b\u{3} axis", "axis"), "a b  \u{2}axis\u{3}");
}

#[test]
fn queries_without_words_ask_for_nothing() {
    for typed in ["", "  ", "\"*()", "--", "\u{0}"] {
        assert_eq!(query(typed, "p1"), None, "{typed:?}");
    }
}

#[test]
fn query_syntax_is_only_words() {
    assert_eq!(
        query("a OR b* NEAR(\"c\" d) -e text:f", "p1").as_deref(),
        Some(
            "{text} : (\"a\" AND \"or\" AND \"b\" AND \"near c\" AND \"d\" AND \"e\" AND \"text f\") AND {scope} : \"p1\""
        )
    );
}

proptest! {
    #[test]
    fn no_text_and_no_query_trips_the_index(text in "\\PC{0,80}", typed in "\\PC{0,40}") {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch(crate::table::messages::STEP.sql).unwrap();
        db.execute("INSERT INTO words (rowid, text, scope) VALUES (1, ?1, 'p1')", [indexed(&text)]).unwrap();
        let _shown = excerpt(&text, &typed);
        if let Some(query) = query(&typed, "p1") {
            db.query_row("SELECT count(*) FROM words WHERE words MATCH ?1", [query], |row| row.get::<_, i64>(0)).unwrap();
        }
    }

    #[test]
    fn every_word_of_a_text_finds_it_and_is_marked(text in "[a-zA-ZäöüßéñÇ\u{4e00}-\u{4e20} _.,0-9]{1,60}", pick in 0_usize..20) {
        let runs: Vec<&str> = text.split_whitespace().filter(|run| run.chars().any(char::is_alphanumeric)).collect();
        prop_assume!(!runs.is_empty());
        let typed = runs[pick % runs.len()];
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch(crate::table::messages::STEP.sql).unwrap();
        db.execute("INSERT INTO words (rowid, text, scope) VALUES (1, ?1, 'p1')", [indexed(&text)]).unwrap();
        let query = query(typed, "p1").unwrap();
        let hits: i64 =
            db.query_row("SELECT count(*) FROM words WHERE words MATCH ?1", [query], |row| row.get(0)).unwrap();
        prop_assert_eq!(hits, 1);
        prop_assert!(excerpt(&text, typed).contains(MARKS.0));
    }
}
