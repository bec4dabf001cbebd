//! The edit matcher: what is replaced is what a plain model of characters finds, and every other byte stays.
//!
//! Owns: the model. It shares nothing with the matcher but the two tables of `encoding_rs` and the name of the encoding.

use cairn_files::edit::{EditError, Edited, Occurrences, Replacement, apply};
use cairn_files::encoding::{self, Detected, Encoding};

use crate::take::Take;

/// One character of a file as an edit sees it: a line end of any kind is `\n`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Unit {
    c: char,
    start: usize,
    end: usize,
    is_damaged: bool,
}

/// Takes any bytes apart into a file and edits, and holds the matcher to the model.
pub fn check(data: &[u8]) {
    let mut take = Take::new(data);
    let count = 1 + take.below(3);
    let mut edits = Vec::new();
    for _ in 0..count {
        edits.push((take.byte(), take.byte(), take.byte(), take.byte(), take.byte()));
    }
    let form = take.byte();
    let texts: Vec<String> = (0..count)
        .map(|_| {
            let n = usize::from(take.byte()) % 24;
            take.text(n)
        })
        .collect();
    let bytes = file(form, take.rest());
    let mut now = bytes.clone();
    let mut pairs = Vec::new();
    for (edit, text) in edits.iter().zip(&texts) {
        let (old, new) = pair(&now, *edit, text);
        let occurrences = if edit.0 & 1 == 0 {
            Occurrences::Once
        } else {
            Occurrences::Every
        };
        let replacement = Replacement {
            old: &old,
            new: &new,
            occurrences,
        };
        let one = apply(&now, &[replacement]);
        one_edit(&now, &replacement, &one);
        pairs.push((old.clone(), new.clone(), occurrences));
        match one {
            Ok(edited) => now = edited.bytes,
            Err(_) => break,
        }
    }
    // Edits in a row are the same as one after the other; the first that fails is named.
    let row: Vec<Replacement<'_>> = pairs
        .iter()
        .map(|(old, new, occurrences)| Replacement {
            old,
            new,
            occurrences: *occurrences,
        })
        .collect();
    match apply(&bytes, &row) {
        Ok(edited) => assert_eq!(
            edited.bytes, now,
            "edits in a row differ from one after the other"
        ),
        Err((at, _)) => assert_eq!(
            at + 1,
            row.len(),
            "the edit that fails is the one that failed alone"
        ),
    }
}

/// A file of one of the forms that there are.
fn file(form: u8, rest: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(rest);
    let wide = |mark: [u8; 2], unit: fn(u16) -> [u8; 2]| {
        mark.into_iter()
            .chain(text.encode_utf16().flat_map(unit))
            .collect::<Vec<u8>>()
    };
    match form % 8 {
        0 | 1 => rest.to_vec(),
        2 => text.replace('\n', "\r\n").into_bytes(),
        3 => [b"\xEF\xBB\xBF", rest].concat(),
        4 => wide([0xFF, 0xFE], u16::to_le_bytes),
        5 => wide([0xFE, 0xFF], u16::to_be_bytes),
        6 => [b"\x99\xE9\xFC\xDF\xA7\n", rest].concat(),
        _ => text.replace('\n', "\r").into_bytes(),
    }
}

/// What an edit finds and puts there: mostly a piece of the file, so that it is there.
fn pair(
    now: &[u8],
    (kind, at, length, new_at, new_length): (u8, u8, u8, u8, u8),
    text: &str,
) -> (String, String) {
    let units = model(now).unwrap_or_default();
    let piece = |at: u8, length: u8| -> String {
        let start = if units.is_empty() {
            0
        } else {
            usize::from(at) * 7 % units.len()
        };
        let end = (start + usize::from(length) % 40).min(units.len());
        units[start..end].iter().map(|unit| unit.c).collect()
    };
    let old = if kind & 2 == 0 {
        piece(at, length)
    } else {
        text.to_owned()
    };
    let new = match kind >> 2 & 3 {
        0 => text.to_owned(),
        1 => format!("{text}{}", piece(new_at, new_length)),
        2 => old.replace('\n', "\r\n"),
        _ => text.replace('\n', "\r\n"),
    };
    let old = if kind & 16 == 0 {
        old
    } else {
        old.replace('\n', "\r\n")
    };
    (old, new)
}

/// The characters of a file; none when it is not text.
fn model(bytes: &[u8]) -> Option<Vec<Unit>> {
    let Detected::Text { encoding, bom } = encoding::detect(bytes) else {
        return None;
    };
    let mut raw = Vec::new();
    let mut at = bom;
    let rest = &bytes[bom..];
    match encoding {
        Encoding::Utf8 => {
            for chunk in rest.utf8_chunks() {
                for c in chunk.valid().chars() {
                    raw.push(Unit {
                        c,
                        start: at,
                        end: at + c.len_utf8(),
                        is_damaged: false,
                    });
                    at += c.len_utf8();
                }
                if !chunk.invalid().is_empty() {
                    let end = at + chunk.invalid().len();
                    raw.push(Unit {
                        c: '\u{fffd}',
                        start: at,
                        end,
                        is_damaged: true,
                    });
                    at = end;
                }
            }
        }
        Encoding::Utf16Le | Encoding::Utf16Be => {
            let unit = |pair: &[u8]| {
                let pair = [pair[0], pair[1]];
                if encoding == Encoding::Utf16Le {
                    u16::from_le_bytes(pair)
                } else {
                    u16::from_be_bytes(pair)
                }
            };
            let whole = rest.len() / 2 * 2;
            for decoded in char::decode_utf16(rest[..whole].chunks(2).map(unit)) {
                let (c, wide, is_damaged) =
                    decoded.map_or(('\u{fffd}', 2, true), |c| (c, c.len_utf16() * 2, false));
                raw.push(Unit {
                    c,
                    start: at,
                    end: at + wide,
                    is_damaged,
                });
                at += wide;
            }
            if whole < rest.len() {
                raw.push(Unit {
                    c: '\u{fffd}',
                    start: at,
                    end: at + 1,
                    is_damaged: true,
                });
            }
        }
        Encoding::Legacy => {
            for byte in rest {
                let c = encoding::decode_as(Encoding::Legacy, &[*byte])
                    .0
                    .chars()
                    .next()
                    .unwrap();
                raw.push(Unit {
                    c,
                    start: at,
                    end: at + 1,
                    is_damaged: false,
                });
                at += 1;
            }
        }
    }
    Some(folded(raw))
}

/// Line ends of all kinds as `\n`. A carriage return alone is one only where there is no `\n` at all.
fn folded(raw: Vec<Unit>) -> Vec<Unit> {
    let only_cr = raw.iter().all(|unit| unit.c != '\n');
    let mut out: Vec<Unit> = Vec::with_capacity(raw.len());
    for unit in raw {
        match out.last_mut() {
            Some(last) if unit.c == '\n' && last.c == '\r' => {
                last.c = '\n';
                last.end = unit.end;
            }
            _ if unit.c == '\r' && only_cr => out.push(Unit { c: '\n', ..unit }),
            _ => out.push(unit),
        }
    }
    out
}

/// Where the wanted characters are, without overlap, first come first served.
fn places(units: &[Unit], wanted: &[char]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at + wanted.len() <= units.len() {
        if units[at..at + wanted.len()]
            .iter()
            .map(|unit| unit.c)
            .eq(wanted.iter().copied())
        {
            found.push((at, at + wanted.len()));
            at += wanted.len();
        } else {
            at += 1;
        }
    }
    found
}

fn plain(text: &str) -> String {
    text.replace("\r\n", "\n")
}

fn one_edit(bytes: &[u8], edit: &Replacement<'_>, result: &Result<Edited, (usize, EditError)>) {
    if let Err((_, error)) = result {
        let words = error.to_string();
        assert!(
            words.chars().count() < 30_000,
            "{} characters of explanation",
            words.chars().count()
        );
    }
    if edit.old.is_empty() {
        assert!(matches!(result, Err((0, EditError::EmptyOld))), "{result:?}");
        return;
    }
    if plain(edit.old) == plain(edit.new) {
        let same = result
            .as_ref()
            .is_ok_and(|edited| edited.bytes == bytes && edited.shifts == [vec![]]);
        assert!(same, "{result:?}");
        return;
    }
    let Some(units) = model(bytes) else {
        assert!(matches!(result, Err((0, EditError::Binary { .. }))), "{result:?}");
        return;
    };
    let only_cr = encoding::decode(bytes).is_some_and(|now| now.text.contains('\r') && !now.text.contains('\n'));
    let plain = |text: &str| {
        let text = plain(text);
        if only_cr { text.replace('\r', "\n") } else { text }
    };
    let wanted: Vec<char> = plain(edit.old).chars().collect();
    let mut found = places(&units, &wanted);
    if let (Occurrences::Once, &[(first, last)]) = (edit.occurrences, found.as_slice()) {
        // A second place within the first is one all the same.
        let again = places(&units[first + 1..], &wanted);
        let again = again.first().map(|(from, to)| (first + 1 + from, first + 1 + to));
        found.extend(again.filter(|(from, _)| *from < last));
    }
    let edited = match result {
        Err((0, EditError::NotFound { .. })) => return assert!(found.is_empty(), "{found:?} not found"),
        Err((0, EditError::Ambiguous { count, .. })) => {
            assert!(edit.occurrences == Occurrences::Once && *count == found.len() && *count > 1);
            return;
        }
        Err((0, EditError::Damaged { .. })) => {
            let damaged = |place: &(usize, usize)| units[place.0..place.1].iter().any(|unit| unit.is_damaged);
            return assert!(found.iter().any(damaged), "nothing is damaged");
        }
        Err((0, EditError::Unencodable { lost, .. })) => return assert!(edit.new.contains(*lost)),
        Err(error) => panic!("{error:?}"),
        Ok(edited) => edited,
    };
    assert!(found.len() == 1 || edit.occurrences == Occurrences::Every && !found.is_empty());
    let Detected::Text { encoding, .. } = encoding::detect(bytes) else {
        unreachable!()
    };
    let spans: Vec<(usize, usize)> = found
        .iter()
        .map(|(first, last)| (units[*first].start, units[last - 1].end))
        .collect();
    walk(bytes, &edited.bytes, &spans, &plain(edit.new), encoding);
    let [shifts] = edited.shifts.as_slice() else {
        panic!("{:?}", edited.shifts)
    };
    assert_eq!(shifts.len(), found.len());
    let breaks = |text: &str| text.matches('\n').count();
    // Counted on from place to place: there may be many.
    let (mut line, mut counted) = (1, 0);
    for (shift, (first, _)) in shifts.iter().zip(&found) {
        let between = &units[counted..*first];
        line += between.iter().filter(|unit| unit.c == '\n').count();
        counted = *first;
        assert_eq!(shift.first, line as u64, "{shift:?}");
        assert_eq!(
            shift.delta,
            breaks(&plain(edit.new)) as i64 - breaks(&plain(edit.old)) as i64
        );
    }
}

/// Walks over both files: what lies between the places is the same, what lies in them is the new text with line ends
/// that each may have been written in.
fn walk(before: &[u8], after: &[u8], spans: &[(usize, usize)], new: &str, encoding: Encoding) {
    let (mut old_at, mut new_at) = (0, 0);
    for (index, (start, end)) in spans.iter().enumerate() {
        let kept = &before[old_at..*start];
        assert_eq!(
            after.get(new_at..new_at + kept.len()),
            Some(kept),
            "before place {index}"
        );
        new_at += kept.len();
        new_at += written(&after[new_at..], new, encoding)
            .unwrap_or_else(|| panic!("place {index} holds something else"));
        old_at = *end;
    }
    assert_eq!(&after[new_at..], &before[old_at..], "after the last place");
}

/// How many bytes at the start are that text.
fn written(bytes: &[u8], new: &str, encoding: Encoding) -> Option<usize> {
    let mut at = 0;
    for c in new.chars() {
        let ends: &[&str] = if c == '\n' { &["\r\n", "\n", "\r"] } else { &[] };
        let itself = c.to_string();
        let mut forms = ends.iter().copied().chain([itself.as_str()]);
        let length = forms.find_map(|form| {
            let form = encoding::encode(encoding, form).ok()?;
            bytes.get(at..)?.starts_with(&form).then_some(form.len())
        })?;
        at += length;
    }
    Some(at)
}
