use proptest::prelude::*;

use super::*;
use crate::trying::tool;

type Found = (String, Vec<(String, String)>);

fn tools() -> Arc<[ToolSpec]> {
    Arc::from([tool("read_file"), tool("write_file")])
}

fn spot<'a>(pieces: impl IntoIterator<Item = &'a str>) -> Found {
    let mut spotter = Spotter::new(Some(tools()));
    let mut out = Vec::new();
    for piece in pieces {
        spotter.push(piece, &mut out);
    }
    let calls = spotter.finish(&mut out);
    let text = out.into_iter().fold(String::new(), |text, event| match event {
        ModelEvent::Text(piece) => text + &piece,
        other => panic!("{other:?}"),
    });
    let calls = calls
        .into_iter()
        .map(|call| (call.name, call.arguments))
        .collect();
    (text, calls)
}

const CALL: &str = "{\"name\": \"read_file\", \"arguments\": {\"path\": \"a\"}}";
const ARGUMENTS: &str = "{\"path\":\"a\"}";

/// Texts that are calls, with what stays visible.
fn recognised() -> Vec<(String, &'static str, usize)> {
    let xml = "<function=read_file>\n<parameter=path>\na\n</parameter>\n</function>";
    vec![
        (CALL.into(), "", 1),
        (format!("\n {CALL}\n"), "", 1),
        (format!("{CALL}\n{CALL}"), "", 2),
        (format!("[{CALL}, {CALL}]"), "", 2),
        (format!("```json\n{CALL}\n```"), "", 1),
        (format!("```\n{CALL}\n```\n"), "", 1),
        (format!("<tool_call>\n{CALL}\n</tool_call>"), "", 1),
        (
            format!("<tool_call>{CALL}</tool_call>\n<tool_call>{CALL}</tool_call>"),
            "",
            2,
        ),
        (
            format!("I look.\n<tool_call>\n{CALL}\n</tool_call>"),
            "I look.\n",
            1,
        ),
        (format!("<tool_call>\n{CALL}"), "", 1),
        (xml.into(), "", 1),
        (format!("<tool_call>\n{xml}\n</tool_call>"), "", 1),
        (format!("I look.\n\n{xml}"), "I look.\n\n", 1),
        (format!("<function=read_file>{ARGUMENTS}</function>"), "", 1),
        (format!("[TOOL_CALLS][{CALL}]"), "", 1),
        (format!("<|python_tag|>{CALL}"), "", 1),
        (
            "{\"name\":\"read_file\",\"parameters\":{\"path\":\"a\"}}".into(),
            "",
            1,
        ),
        (
            "{\"name\":\"read_file\",\"arguments\":\"{\\\"path\\\":\\\"a\\\"}\"}".into(),
            "",
            1,
        ),
        (
            "{\"type\":\"function\",\"function\":{\"name\":\"read_file\",\"arguments\":{\"path\":\"a\"}}}"
                .into(),
            "",
            1,
        ),
        (
            "{\"tool_calls\":[{\"function\":{\"name\":\"read_file\",\"arguments\":{\"path\":\"a\"}}}]}"
                .into(),
            "",
            1,
        ),
    ]
}

/// Texts that are none: quoted examples, other tools, broken JSON.
fn prose() -> Vec<String> {
    vec![
        format!("You call it like this: {CALL}"),
        format!("For example:\n{CALL}\nand so on."),
        format!("For example:\n```json\n{CALL}\n```\nThat reads a file."),
        format!("For example:\n```json\n{CALL}\n```"),
        format!("```\n<tool_call>\n{CALL}\n</tool_call>\n```"),
        format!("Like this:\n```\n<tool_call>\n{CALL}\n</tool_call>\n```\nSee?"),
        format!("Write `<tool_call>{CALL}</tool_call>` to call it."),
        format!("<tool_call>\n{CALL}\n</tool_call>\nis how it is written."),
        format!("{CALL} is an example"),
        "{\"name\":\"delete_everything\",\"arguments\":{}}".into(),
        "<tool_call>{\"name\":\"nothing\",\"arguments\":{}}</tool_call>".into(),
        "<function=nothing><parameter=a>b</parameter></function>".into(),
        "<tool_call>{\"name\":\"read_file\",\"arguments\":{</tool_call>".into(),
        "{\"name\":\"read_file\",\"arguments\":[1]}".into(),
        "{\"answer\": 42}".into(),
        "{".into(),
        "{ a lone brace".into(),
        "[1] a footnote".into(),
        "<".into(),
        "<tool_call".into(),
        "```rust\nfn main() {}\n```".into(),
        "```".into(),
        "<tool_call></tool_call>".into(),
        "<function=read_file><parameter=path>a".into(),
    ]
}

#[test]
fn t10_m3_calls_written_as_text_are_recognised_split_anywhere() {
    for (input, visible, count) in recognised() {
        let whole = spot([input.as_str()]);
        assert_eq!(whole.0.trim(), visible.trim(), "{input}");
        assert_eq!(
            whole.1,
            vec![("read_file".to_owned(), ARGUMENTS.to_owned()); count],
            "{input}"
        );
        for (cut, _) in input.char_indices() {
            let (one, two) = input.split_at(cut);
            assert_eq!(spot([one, two]), whole, "{input} cut at {cut}");
        }
        let single: Vec<String> = input.chars().map(String::from).collect();
        assert_eq!(spot(single.iter().map(String::as_str)), whole, "{input}");
    }
}

#[test]
fn t10_x101_a_quoted_example_another_tool_and_broken_json_stay_text() {
    for input in prose() {
        assert_eq!(spot([input.as_str()]), (input.clone(), Vec::new()));
        let single: Vec<String> = input.chars().map(String::from).collect();
        assert_eq!(
            spot(single.iter().map(String::as_str)),
            (input.clone(), Vec::new())
        );
    }
}

#[test]
fn parameters_that_want_text_stay_text_and_others_become_what_they_say() {
    let input = "<function=write_file><parameter=content>{\"a\": 1}</parameter><parameter=limit>7</parameter>\
                 <parameter=todos>[\"x\"]</parameter><parameter=new>so</parameter></function>";
    let (_, calls) = spot([input]);
    let arguments: serde_json::Value = serde_json::from_str(&calls[0].1).unwrap();
    assert_eq!(
        arguments,
        serde_json::json!({ "content": "{\"a\": 1}", "limit": 7, "todos": ["x"], "new": "so" })
    );
}

#[test]
fn x101_prose_is_let_go_at_once_and_json_that_is_no_call_soon() {
    let mut spotter = Spotter::new(Some(tools()));
    let mut out = Vec::new();
    for piece in ["I", " look", "\n", "{\"answer\": "] {
        spotter.push(piece, &mut out);
    }
    let said: String = out
        .iter()
        .map(|event| match event {
            ModelEvent::Text(text) => text.as_str(),
            _ => "",
        })
        .collect();
    assert_eq!(said, "I look\n{\"answer\": ");
}

#[test]
fn without_offered_tools_everything_is_text() {
    let mut spotter = Spotter::new(Some(Arc::from([])));
    let mut out = Vec::new();
    spotter.push(CALL, &mut out);
    assert_eq!(spotter.finish(&mut out), []);
    assert_eq!(out, [ModelEvent::Text(CALL.into())]);
}

proptest! {
    #[test]
    fn x101_shown_and_called_make_the_input_however_it_is_split(
        pieces in proptest::collection::vec(
            prop_oneof![
                Just("<tool_call>"), Just("</tool_call>"), Just("{\"name\": \"read_file\", \"arguments\": {}}"), Just("\n"),
                Just("```json\n"), Just("```"), Just("<function=read_file>"), Just("<parameter=path>"), Just("</parameter>"),
                Just("</function>"), Just(" "), Just("word"), Just("{"), Just("}"), Just("["), Just("\"name\""), Just("那"),
            ], 0..14),
    ) {
        let input = pieces.concat();
        let whole = spot([input.as_str()]);
        prop_assert!(input.starts_with(&whole.0), "{:?} of {:?}", whole, input);
        if whole.1.is_empty() {
            prop_assert_eq!(&whole.0, &input);
        }
        let single: Vec<String> = input.chars().map(String::from).collect();
        prop_assert_eq!(spot(single.iter().map(String::as_str)), whole.clone());
        prop_assert_eq!(spot(pieces.iter().copied()), whole);
    }
}
