use proptest::prelude::*;

use super::*;

fn text_of(bytes: &[u8]) -> Decoded<'_> {
    decode(bytes).unwrap()
}

#[test]
fn tells_encodings_apart() {
    let utf16 =
        |text: &str, unit: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(unit).collect::<Vec<u8>>();
    let cases: Vec<(Vec<u8>, Encoding, usize, &str)> = vec![
        (b"plain\n".to_vec(), Encoding::Utf8, 0, "plain\n"),
        ("\u{feff}über".into(), Encoding::Utf8, 3, "über"),
        ("日本語".into(), Encoding::Utf8, 0, "日本語"),
        (
            [vec![0xFF, 0xFE], utf16("hé\n", u16::to_le_bytes)].concat(),
            Encoding::Utf16Le,
            2,
            "hé\n",
        ),
        (
            [vec![0xFE, 0xFF], utf16("日本", u16::to_be_bytes)].concat(),
            Encoding::Utf16Be,
            2,
            "日本",
        ),
        (
            utf16("no mark here", u16::to_le_bytes),
            Encoding::Utf16Le,
            0,
            "no mark here",
        ),
        (
            utf16("no mark here", u16::to_be_bytes),
            Encoding::Utf16Be,
            0,
            "no mark here",
        ),
        (b"caf\xe9 \x99".to_vec(), Encoding::Legacy, 0, "café ™"),
        (
            [&b"\xff"[..], "übergroß ✓".as_bytes()].concat(),
            Encoding::Utf8,
            0,
            "\u{fffd}übergroß ✓",
        ),
        (Vec::new(), Encoding::Utf8, 0, ""),
    ];
    for (bytes, encoding, bom, text) in cases {
        let decoded = text_of(&bytes);
        assert_eq!(
            (decoded.encoding, decoded.bom, decoded.text.as_ref()),
            (encoding, bom, text)
        );
    }
}

#[test]
fn g8_names_binary_as_binary() {
    let zip = b"PK\x03\x04\x14\0\0\0\x08\0".as_slice();
    let controls: Vec<u8> = (0..200).map(|at| if at % 10 == 0 { 3 } else { b'a' }).collect();
    let late_nul = [vec![b'a'; 100_000], vec![0], vec![b'a'; 10]].concat();
    for bytes in [zip, &controls, &late_nul, b"\xff\xfe\0\0a\0\0\0"] {
        assert_eq!(decode(bytes), None);
    }
    assert!(decode(b"\x1b[31mred\x1b[0m\n\x0c\x08").is_some());
}

#[test]
fn a_sample_may_end_inside_a_character() {
    let text = "é".repeat(SAMPLE);
    let cut = &text.as_bytes()[..SAMPLE - 1 + SAMPLE % 2];
    assert_eq!(
        detect(cut),
        Detected::Text {
            encoding: Encoding::Utf8,
            bom: 0
        }
    );
}

#[test]
fn says_which_character_an_encoding_lacks() {
    assert_eq!(encode(Encoding::Legacy, "ok € 日"), Err(Unencodable('日')));
    assert_eq!(encode(Encoding::Legacy, "€").unwrap(), b"\x80");
}

proptest! {
    #[test]
    fn every_character_knows_its_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        if let Some(decoded) = decode(&bytes) {
            let offsets: Vec<usize> =
                decoded.text.char_indices().map(|(at, _)| at).chain([decoded.text.len()]).collect();
            let places = decoded.byte_offsets(&offsets);
            prop_assert_eq!(places[0], decoded.bom);
            prop_assert_eq!(*places.last().unwrap(), bytes.len());
            for (c, at) in decoded.text.chars().zip(0..) {
                let own = &bytes[places[at]..places[at + 1]];
                let range = offsets[at]..offsets[at + 1];
                if !decoded.is_damaged(&range) {
                    prop_assert_eq!(encode(decoded.encoding, c.encode_utf8(&mut [0; 4])).unwrap(), own);
                }
            }
        }
    }
}
