use proptest::prelude::*;

use super::*;

fn decode<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> (Vec<(String, String)>, String) {
    let mut decoder = Decoder::new();
    let mut events = Vec::new();
    for chunk in chunks {
        decoder.push(chunk, &mut events).unwrap();
    }
    decoder.finish(&mut events).unwrap();
    (
        events.into_iter().map(|event| (event.name, event.data)).collect(),
        decoder.stray().to_owned(),
    )
}

fn data(bytes: &[u8]) -> Vec<String> {
    decode([bytes]).0.into_iter().map(|(_, data)| data).collect()
}

#[test]
fn t4_every_spelling_of_a_line_is_read() {
    let table: &[(&str, &[&str])] = &[
        ("data:{\"a\":1}\n\n", &["{\"a\":1}"]),
        ("data: {\"a\":1}\r\n\r\n", &["{\"a\":1}"]),
        ("data: a\rdata: b\r\rdata: c\r\r", &["a\nb", "c"]),
        ("data: one\ndata: two\n\n", &["one\ntwo"]),
        ("data:  two spaces keep one\n\n", &[" two spaces keep one"]),
        ("data: [DONE]\n\n", &["[DONE]"]),
        ("data\n\n", &[""]),
        ("data:\n\n", &[""]),
        ("data: no blank line at the end", &["no blank line at the end"]),
        ("id: 4\nretry: 10\ndata: x\n\n", &["x"]),
        ("\u{feff}data: after a mark\n\n", &["after a mark"]),
        ("\n\n\n", &[]),
    ];
    for (text, expected) in table {
        assert_eq!(data(text.as_bytes()), *expected, "{text:?}");
    }
}

#[test]
fn t2_comments_make_no_events() {
    assert_eq!(
        data(b": OPENROUTER PROCESSING\n\n:\n\ndata: x\n\n: again\n\n"),
        ["x"]
    );
}

#[test]
fn events_have_names_that_do_not_stick() {
    let (events, _) = decode([b"event: ping\ndata: 1\n\ndata: 2\n\nevent: lost\n\ndata: 3\n\n".as_slice()]);
    let names: Vec<_> = events.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["ping", "", ""]);
}

#[test]
fn a_line_of_kind_error_is_an_event_of_its_own() {
    let (events, stray) = decode([b"data: x\n\nerror: {\"code\":500}\n\n".as_slice()]);
    assert_eq!(
        events,
        [
            (String::new(), "x".into()),
            ("error".into(), "{\"code\":500}".into())
        ]
    );
    assert_eq!(stray, "");
}

#[test]
fn what_is_no_field_is_set_aside_in_bounds() {
    let mut text = b"data: x\n\n{\"error\":{\"message\":\"boom\"}}\n".to_vec();
    text.extend(std::iter::repeat_n(b'z', 100_000));
    let (events, stray) = decode([text.as_slice()]);
    assert_eq!(events.len(), 1);
    assert!(stray.starts_with("{\"error\":{\"message\":\"boom\"}}\n"));
    assert!(stray.len() <= MAX_STRAY_BYTES);
}

#[test]
fn x105_lines_over_64_kb_are_whole() {
    let long = "x".repeat(300_000);
    assert_eq!(data(format!("data: {long}\n\n").as_bytes()), [long]);
}

#[test]
fn an_event_over_16_mb_is_an_error_and_not_memory() {
    let chunk = vec![b'x'; 1024 * 1024];
    let mut decoder = Decoder::new();
    let mut events = Vec::new();
    decoder.push(b"data: ", &mut events).unwrap();
    let result = (0..20).try_for_each(|_| decoder.push(&chunk, &mut events));
    assert_eq!(result, Err(EventTooLarge));

    let mut decoder = Decoder::new();
    let mut line = b"data: ".to_vec();
    line.extend_from_slice(&chunk);
    line.push(b'\n');
    let result = (0..20).try_for_each(|_| decoder.push(&line, &mut events));
    assert_eq!(
        result,
        Err(EventTooLarge),
        "many lines of one event count together"
    );
}

#[test]
fn m16_broken_utf8_is_replaced_and_nothing_panics() {
    assert_eq!(data(b"data: a\xffb\xe9\x82\n\n"), ["a\u{fffd}b\u{fffd}"]);
    assert_eq!(data(b"data: \0\n\n"), ["\0"]);
}

#[test]
fn t1_x105_characters_split_between_chunks_stay_whole() {
    let text = "data: 那 🌌 é\r\n\r\n: c\r\ndata: \"\\u90a3\"\r\n\r\n".as_bytes();
    let whole = decode([text]);
    for cut in 0..=text.len() {
        let (a, b) = text.split_at(cut);
        assert_eq!(decode([a, b]), whole, "cut at {cut}");
    }
    assert_eq!(decode(text.chunks(1)), whole);
}

proptest! {
    #[test]
    fn any_split_gives_the_same_events(
        pieces in proptest::collection::vec(
            prop_oneof![
                Just("data: "), Just("data:"), Just("event: e"), Just("\n"), Just("\r"), Just("\r\n"), Just("\n\n"),
                Just(": c"), Just("error: x"), Just("那🌌"), Just("{\"a\":1}"), Just("stray"), Just("\u{feff}"), Just("\0"),
            ], 0..40),
        sizes in proptest::collection::vec(1_usize..9, 1..20),
    ) {
        let text = pieces.concat();
        let bytes = text.as_bytes();
        let whole = decode([bytes]);
        let mut chunks = Vec::new();
        let (mut rest, mut turn) = (bytes, 0);
        while !rest.is_empty() {
            let (head, tail) = rest.split_at(sizes[turn % sizes.len()].min(rest.len()));
            chunks.push(head);
            rest = tail;
            turn += 1;
        }
        prop_assert_eq!(decode(chunks), whole.clone());
        prop_assert_eq!(decode(bytes.chunks(1)), whole);
    }

    #[test]
    fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let whole = decode([bytes.as_slice()]);
        prop_assert_eq!(decode(bytes.chunks(1)), whole);
    }
}
