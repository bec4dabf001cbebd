//! A bounded parser for what terminals are sent: text passes, escape sequences do not. Case U11.
//!
//! It keeps at most a few bytes of state, whatever comes in whatever pieces, and no sequence swallows more than its
//! limit: a stray introducer in binary output must not hide the error message that follows it.

/// Bytes of a control sequence before it is given up.
const CONTROL_LIMIT: usize = 64;

/// Bytes of a string sequence (title, link, clipboard, picture) before it is given up.
const STRING_LIMIT: usize = 64 << 10;

/// How much of a line a sequence erases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Erase {
    /// From the cursor to the end.
    Rest,
    /// All before the cursor, or all.
    Whole,
}

/// Takes what is left when sequences are removed.
pub(crate) trait Sink {
    /// Text without control characters but line feed and tab; never empty.
    fn text(&mut self, run: &str);
    /// The cursor goes to the start of the line.
    fn carriage_return(&mut self);
    /// The cursor goes back one character.
    fn backspace(&mut self);
    /// The line is erased.
    fn erase_line(&mut self, erase: Erase);
}

/// Where in a sequence the parser is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// In none.
    #[default]
    Ground,
    /// After ESC.
    Escape,
    /// After ESC and intermediate bytes.
    Intermediate,
    /// In a control sequence; its length so far and its first parameter byte.
    Control { length: usize, first: u8 },
    /// In a string sequence; its length so far and its last byte.
    Text { length: usize, last: u8 },
}

/// The parser.
#[derive(Default)]
pub(crate) struct Cleaner {
    state: State,
    /// An incomplete character at the end of the last piece, at most three bytes.
    carry: Vec<u8>,
}

impl Cleaner {
    /// Takes the next piece. How the bytes are split into pieces makes no difference.
    pub(crate) fn feed(&mut self, bytes: &[u8], sink: &mut impl Sink) {
        let joined;
        let mut rest = if self.carry.is_empty() {
            bytes
        } else {
            joined = [std::mem::take(&mut self.carry).as_slice(), bytes].concat();
            joined.as_slice()
        };
        while let Some((&byte, after)) = rest.split_first() {
            rest = if self.state == State::Ground {
                self.ground(rest, sink)
            } else if self.sequence(byte, sink) {
                after
            } else {
                rest
            };
        }
    }

    /// Nothing more comes: an incomplete character is replaced.
    pub(crate) fn finish(&mut self, sink: &mut impl Sink) {
        if !std::mem::take(&mut self.carry).is_empty() {
            sink.text("\u{FFFD}");
        }
    }

    /// Takes a run of text or one control character; answers what is left.
    fn ground<'a>(&mut self, bytes: &'a [u8], sink: &mut impl Sink) -> &'a [u8] {
        let run = bytes
            .iter()
            .position(|&byte| is_control(byte))
            .unwrap_or(bytes.len());
        let (text, after) = bytes.split_at(run);
        if !text.is_empty() {
            let taken = self.decode(text, after.is_empty(), sink);
            return bytes.get(taken..).unwrap_or_default();
        }
        match bytes.first() {
            Some(0x1B) => self.state = State::Escape,
            Some(b'\r') => sink.carriage_return(),
            Some(0x08) => sink.backspace(),
            _ => {}
        }
        bytes.get(1..).unwrap_or_default()
    }

    /// Takes text that may be no UTF-8 and may hold introducers of two bytes; answers how much of it was taken.
    fn decode(&mut self, bytes: &[u8], at_end: bool, sink: &mut impl Sink) -> usize {
        let mut taken = 0;
        while let Some(rest) = bytes.get(taken..).filter(|rest| !rest.is_empty()) {
            let (valid, broken) = match std::str::from_utf8(rest) {
                Ok(text) => (text, None),
                Err(error) => {
                    let valid = rest.get(..error.valid_up_to()).unwrap_or_default();
                    (
                        std::str::from_utf8(valid).unwrap_or_default(),
                        Some(error.error_len()),
                    )
                }
            };
            if let Some(length) = self.characters(valid, sink) {
                return taken + length;
            }
            taken += valid.len();
            match broken {
                None => {}
                Some(None) if at_end => {
                    self.carry = bytes.get(taken..).unwrap_or_default().to_vec();
                    return bytes.len();
                }
                Some(length) => {
                    sink.text("\u{FFFD}");
                    taken += length.unwrap_or(bytes.len() - taken);
                }
            }
        }
        taken
    }

    /// Passes text on, up to and with a control character of two bytes where there is one: then answers its end.
    fn characters(&mut self, text: &str, sink: &mut impl Sink) -> Option<usize> {
        let found = if text.is_ascii() {
            None
        } else {
            text.find(|c: char| ('\u{80}'..='\u{9f}').contains(&c))
        };
        let run = text.get(..found.unwrap_or(text.len())).unwrap_or_default();
        if !run.is_empty() {
            sink.text(run);
        }
        let at = found?;
        self.state = match text.as_bytes().get(at + 1) {
            Some(0x9B) => State::Control { length: 0, first: 0 },
            Some(0x90 | 0x98 | 0x9D..=0x9F) => State::Text { length: 0, last: 0 },
            _ => State::Ground,
        };
        Some(at + 2)
    }

    /// Takes one byte of a sequence; false when the byte is not part of it and has to be looked at again.
    fn sequence(&mut self, byte: u8, sink: &mut impl Sink) -> bool {
        match self.state {
            State::Ground => false,
            State::Escape => self.escape(byte),
            State::Intermediate => {
                let taken = (0x20..=0x7E).contains(&byte);
                if !(0x20..=0x2F).contains(&byte) {
                    self.state = State::Ground;
                }
                taken
            }
            State::Control { length, first } => self.control(byte, length, first, sink),
            State::Text { length, last } => self.text(byte, length, last),
        }
    }

    fn escape(&mut self, byte: u8) -> bool {
        self.state = match byte {
            b'[' => State::Control { length: 0, first: 0 },
            b']' | b'P' | b'X' | b'^' | b'_' => State::Text { length: 0, last: 0 },
            0x20..=0x2F => State::Intermediate,
            _ => State::Ground,
        };
        (0x20..=0x7E).contains(&byte)
    }

    fn control(&mut self, byte: u8, length: usize, first: u8, sink: &mut impl Sink) -> bool {
        match byte {
            0x20..=0x3F if length < CONTROL_LIMIT => {
                let first = if length == 0 { byte } else { first };
                self.state = State::Control {
                    length: length + 1,
                    first,
                };
                return true;
            }
            b'K' => {
                let whole = matches!(first, b'1' | b'2');
                sink.erase_line(if whole { Erase::Whole } else { Erase::Rest });
            }
            _ => {}
        }
        self.state = State::Ground;
        (0x40..=0x7E).contains(&byte)
    }

    fn text(&mut self, byte: u8, length: usize, last: u8) -> bool {
        let ended_by_two = byte == 0x9C && last == 0xC2;
        self.state = match byte {
            // ESC ends the string, and begins either its terminator (ESC \) or another sequence.
            0x1B => State::Escape,
            0x07 | 0x18 | 0x1A => State::Ground,
            // A terminal would wait on; here nobody sees what it hides, so that no string hides a second line.
            b'\n' => {
                self.state = State::Ground;
                return false;
            }
            _ if ended_by_two || length >= STRING_LIMIT => State::Ground,
            _ => State::Text {
                length: length + 1,
                last: byte,
            },
        };
        true
    }
}

/// Control characters that are not text.
fn is_control(byte: u8) -> bool {
    (byte < 0x20 && byte != b'\n' && byte != b'\t') || byte == 0x7F
}
