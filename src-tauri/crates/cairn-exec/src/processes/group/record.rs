//! What is known about each command of a group.
//!
//! Owns: how news change it. Must never know: who waits, or how anything is asked.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use cairn_protocol::{CommandEnd, ProcessPlace, ProcessState};
use tokio::sync::watch;
use tokio::time::Instant;

use super::super::link::{Link, Route};
use super::super::news::News;
use super::Facts;
use crate::command::{Finished, Label, Output, Slice};
use crate::error::ExecError;
use crate::wire::From;

/// Commands that are still known after their end.
const ENDED: usize = 16;

/// All commands of a group.
#[derive(Default)]
pub(super) struct Table {
    last: u32,
    pub(super) records: BTreeMap<u32, Record>,
    pub(super) closed: bool,
}

impl Table {
    pub(super) fn insert(&mut self, mut record: Record) -> u32 {
        self.last += 1;
        record.number = self.last;
        self.records.insert(self.last, record);
        self.last
    }

    pub(super) fn remove(&mut self, number: u32) {
        self.records.remove(&number);
    }

    pub(super) fn of(&mut self, number: u32) -> Result<&mut Record, ExecError> {
        match self.records.get_mut(&number) {
            Some(record) => Ok(record),
            None => Err(ExecError::Unknown {
                handle: handle(number),
                known: Vec::new(),
            }),
        }
    }

    pub(super) fn find(&mut self, name: &str) -> Result<&mut Record, ExecError> {
        let known = || {
            self.records
                .values()
                .map(|record| handle(record.number))
                .collect()
        };
        let number = self
            .records
            .keys()
            .copied()
            .find(|&number| handle(number) == name.trim())
            .ok_or_else(|| ExecError::Unknown {
                handle: name.to_owned(),
                known: known(),
            })?;
        self.of(number)
    }

    /// A command that a call waits for.
    pub(super) fn waited_for(&mut self, name: &str) -> Result<&mut Record, ExecError> {
        let record = self.find(name)?;
        if record.place == ProcessPlace::Foreground && record.state == ProcessState::Running {
            Ok(record)
        } else {
            Err(ExecError::NotWaitedFor {
                handle: handle(record.number),
            })
        }
    }

    /// How many run in the background.
    pub(super) fn running(&self) -> usize {
        let in_background =
            |record: &&Record| record.place == ProcessPlace::Background && record.state.is_alive();
        self.records.values().filter(in_background).count()
    }

    /// Forgets the oldest of those that ended in the background.
    pub(super) fn trim(&mut self) {
        let ended: Vec<_> = self
            .records
            .values()
            .filter(|record| record.place == ProcessPlace::Background && !record.state.is_alive())
            .map(|record| record.number)
            .collect();
        for number in ended.iter().take(ended.len().saturating_sub(ENDED)) {
            self.records.remove(number);
        }
    }
}

fn handle(number: u32) -> String {
    format!("p{number}")
}

/// One command.
pub(super) struct Record {
    pub(super) number: u32,
    label: Label,
    pub(super) pid: Option<u32>,
    pub(super) keeper: Option<i32>,
    pub(super) place: ProcessPlace,
    pub(super) state: ProcessState,
    pub(super) started: Instant,
    started_at: SystemTime,
    ended_at: Option<SystemTime>,
    pub(super) last_output: Instant,
    last_output_at: SystemTime,
    pub(super) silent: bool,
    pub(super) limit: Option<Duration>,
    printed: u64,
    /// Its place in the connection, until it is over.
    pub(super) route: Option<Route>,
    /// What the call that waits for it is told, once it is known.
    pub(super) answer: Option<Result<Finished, ExecError>>,
    /// All that it printed, once it is over and was in the background.
    pub(super) kept: Option<Output>,
    pub(super) cursor: Cursor,
    /// Moves with every change.
    pub(super) version: watch::Sender<()>,
}

impl Record {
    pub(super) fn new(route: Route, label: Label, limit: Option<Duration>, place: ProcessPlace) -> Self {
        let (started, started_at) = (Instant::now(), SystemTime::now());
        Self {
            number: 0,
            label,
            pid: None,
            keeper: None,
            place,
            state: ProcessState::Running,
            started,
            started_at,
            ended_at: None,
            last_output: started,
            last_output_at: started_at,
            silent: false,
            limit,
            printed: 0,
            route: Some(route),
            answer: None,
            kept: None,
            cursor: Cursor::default(),
            version: watch::Sender::default(),
        }
    }

    pub(super) fn facts(&self) -> Facts {
        Facts {
            handle: handle(self.number),
            label: self.label.clone(),
            pid: self.pid,
            place: self.place,
            state: self.state.clone(),
            started_at: self.started_at,
            ended_at: self.ended_at,
            last_output_at: self.last_output_at,
            silent: self.silent,
            limit: self.limit,
            printed: self.printed,
        }
    }

    pub(super) fn bump(&self) {
        self.version.send_replace(());
    }

    pub(super) fn link(&self) -> Option<Arc<Link>> {
        self.route.as_ref().map(|route| Arc::clone(route.link()))
    }

    /// Something was learnt.
    pub(super) fn take(&mut self, news: News) {
        match news {
            News::Started { pid, keeper } => {
                self.pid = Some(pid.unsigned_abs());
                self.keeper = Some(keeper);
            }
            News::Printed(printed) => self.prints(printed),
            // Told by whoever knows the program's name.
            News::Refused(_) => {}
            News::Finished { finished, lives } => self.finish(finished, lives),
            News::Over { end, output } => {
                let end = match (&self.state, end) {
                    (ProcessState::Left { end }, Some(forced)) if !is_forced(end) => forced,
                    (ProcessState::Left { end }, _) => end.clone(),
                    (_, end) => end.unwrap_or(CommandEnd::Interrupted),
                };
                self.printed = output.printed;
                self.kept = Some(output);
                self.over(end);
            }
        }
    }

    /// It printed so many bytes in all.
    pub(super) fn prints(&mut self, printed: u64) {
        self.printed = self.printed.max(printed);
        self.last_output = Instant::now();
        self.last_output_at = SystemTime::now();
        self.silent = false;
    }

    /// It was not started.
    pub(super) fn refuse(&mut self, error: ExecError) {
        self.answer = Some(Err(error));
        self.over(CommandEnd::Interrupted);
    }

    /// Why it was not started.
    pub(super) fn refusal(&self) -> Option<ExecError> {
        match &self.answer {
            Some(Err(error)) => Some(error.clone()),
            _ => None,
        }
    }

    /// The helper is gone, and the command with it.
    pub(super) fn lose(&mut self) {
        if self.answer.is_none() {
            self.answer = Some(Err(ExecError::HelperLost));
        }
        self.over(CommandEnd::Interrupted);
    }

    /// The person does not wait for it any more.
    pub(super) fn move_to_background(&mut self) {
        self.place = ProcessPlace::Background;
        self.limit = None;
        self.silent = false;
        self.bump();
    }

    pub(super) fn kept_from(&self, from: From) -> Slice {
        let Some(kept) = &self.kept else {
            return Slice::default();
        };
        let offset = match from {
            From::Offset(offset) => offset,
            From::Last(bytes) => kept.length().saturating_sub(bytes),
        };
        kept.since(offset)
    }

    fn finish(&mut self, finished: Finished, lives: bool) {
        let end = finished.end.clone();
        let waits = self.place == ProcessPlace::Foreground;
        self.printed = finished.output.printed;
        self.silent = false;
        if lives {
            self.state = ProcessState::Left { end };
            if !finished.survivors.is_empty() {
                self.place = ProcessPlace::Background;
                self.limit = None;
            }
        }
        if waits {
            // What the call tells is not news any more.
            self.cursor = Cursor::after(&finished.output.since(0));
        } else if !lives {
            self.kept = Some(finished.output.clone());
        }
        if !lives {
            self.over(finished.end.clone());
        }
        if waits {
            self.answer = Some(Ok(finished));
        }
    }

    fn over(&mut self, end: CommandEnd) {
        self.state = ProcessState::Ended { end };
        self.ended_at = Some(SystemTime::now());
        self.silent = false;
        if let Some(mut route) = self.route.take() {
            route.forget();
        }
    }
}

/// Whether that end was ours.
fn is_forced(end: &CommandEnd) -> bool {
    matches!(end, CommandEnd::Stopped | CommandEnd::TimedOut)
}

/// How much of a command's output was told already.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Cursor {
    /// Bytes of lines that do not change any more.
    pub(super) from: u64,
    /// The open line as it was told.
    open: String,
}

impl Cursor {
    /// All of it was told.
    pub(super) fn after(slice: &Slice) -> Self {
        let mut cursor = Self::default();
        cursor.advance(slice);
        cursor
    }

    /// What is new in a part that begins at `from`. A line that was drawn anew is new as a whole.
    pub(super) fn advance(&mut self, slice: &Slice) -> String {
        let mut text = slice.output.text();
        let open_bytes = usize::try_from(slice.end().saturating_sub(slice.output.stable)).unwrap_or(0);
        let open_at = text.floor_char_boundary(text.len().saturating_sub(open_bytes));
        let open = text.get(open_at..).unwrap_or_default().to_owned();
        if slice.offset == self.from && text.starts_with(&self.open) {
            text.drain(..self.open.len());
        }
        if slice.end() > 0 {
            *self = Self {
                from: slice.output.stable,
                open,
            };
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::Screen;

    /// What is told when the pieces come one by one and each is asked for.
    fn told(pieces: &[&str]) -> Vec<String> {
        let mut screen = Screen::default();
        let mut cursor = Cursor::default();
        let tell = |piece: &&str| {
            screen.feed(piece.as_bytes());
            cursor.advance(&screen.so_far().since(cursor.from))
        };
        pieces.iter().map(tell).collect()
    }

    #[test]
    fn x63_only_what_is_new_is_told() {
        for (pieces, expected) in [
            (vec!["a\n", "b\n", "", "c\n"], vec!["a\n", "b\n", "", "c\n"]),
            (
                vec!["Pass", "word: ", "", "\nok\n"],
                vec!["Pass", "word: ", "", "\nok\n"],
            ),
            // A line that is drawn anew is told as it is now; one that stayed the same is not told again.
            (
                vec!["10%", "\r20%", "\r20%", "\rdone\n"],
                vec!["10%", "20%", "", "done\n"],
            ),
            (vec!["\u{1b}[31mred\u{1b}[0m", "!\n"], vec!["red", "!\n"]),
            (vec!["", "x"], vec!["", "x"]),
        ] {
            assert_eq!(told(&pieces), expected, "{pieces:?}");
        }
    }

    #[test]
    fn what_was_dropped_between_two_asks_is_counted() {
        let mut screen = Screen::default();
        screen.feed(b"first\n");
        let mut cursor = Cursor::default();
        assert_eq!(cursor.advance(&screen.so_far().since(0)), "first\n");
        let flood = "y\n".repeat(1 << 20);
        screen.feed(flood.as_bytes());
        let text = cursor.advance(&screen.so_far().since(cursor.from));
        assert!(text.contains("bytes left out"), "{}", &text[..100]);
        assert!(text.len() <= 400 << 10);
        assert_eq!(cursor.advance(&screen.so_far().since(cursor.from)), "");
    }
}
