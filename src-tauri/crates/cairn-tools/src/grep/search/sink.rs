//! Takes the matches of one file from the searcher.

use std::io;
use std::ops::Range;

use grep_matcher::Matcher as _;
use grep_searcher::{Searcher, Sink, SinkContext, SinkContextKind, SinkMatch};

use crate::grep::Output;
use crate::grep::collect::{InFile, MOST_MATCHES};
use crate::grep::line::Line;
use crate::grep::matcher::{Lines, Query};
use crate::walk::Stop;

/// Lines shown of one match that spans lines.
const MOST_LINES_OF_A_MATCH: usize = 30;
/// Places marked in one line; what is beyond is counted only.
const MOST_MARKS: usize = 10_000;
/// Bytes behind a match that the expression may look at.
const LOOK_AHEAD: usize = 128;

/// Whether the lines of a file are kept or only counted.
#[derive(Clone, Copy)]
pub(super) enum Keep<'a> {
    /// They are kept.
    Lines,
    /// To be asked at the first match: true means that they are only counted.
    Ask(&'a dyn Fn() -> bool),
}

/// Takes the matches of one file.
pub(super) struct Lens<'a> {
    query: &'a Query,
    output: Output,
    context: u64,
    keep: Keep<'a>,
    stop: &'a Stop,
    found: InFile,
    binary: bool,
    /// Lines before a match that is not known to be kept yet.
    before: Vec<Line>,
    counts_only: bool,
}

impl<'a> Lens<'a> {
    pub(super) fn new(
        query: &'a Query,
        output: Output,
        context: usize,
        keep: Keep<'a>,
        stop: &'a Stop,
    ) -> Self {
        Self {
            query,
            output,
            context: context as u64,
            keep,
            stop,
            found: InFile::default(),
            binary: false,
            before: Vec::new(),
            counts_only: output != Output::Content,
        }
    }

    /// The file turned out not to be text; what was found in it is nothing.
    pub(super) fn is_binary(&self) -> bool {
        self.binary
    }

    /// What was found.
    pub(super) fn into_found(self) -> InFile {
        self.found
    }

    fn keep_lines(&mut self, found: &SinkMatch<'_>, places: &[Range<usize>]) {
        let number = found.line_number().unwrap_or(0);
        self.found.lines.append(&mut self.before);
        let mut offset = 0;
        let mut left_out = 0;
        let mut uncounted = self.count(places);
        for (index, line) in found.lines().enumerate() {
            let end = offset + line.len();
            if index < MOST_LINES_OF_A_MATCH {
                let begin = places
                    .iter()
                    .filter(|place| (offset..end).contains(&place.start))
                    .count() as u64;
                let counts = if self.query.lines == Lines::Spanned {
                    begin.min(uncounted)
                } else {
                    uncounted
                };
                uncounted -= counts;
                let here = inside(places, offset, line.len());
                self.found.lines.push(Line {
                    counts,
                    ..Line::new(number + index as u64, true, line, &here)
                });
            } else {
                left_out += 1;
            }
            offset = end;
        }
        if left_out > 0 {
            let number = number + MOST_LINES_OF_A_MATCH as u64;
            self.found
                .lines
                .push(Line::rest_of_match(number, left_out, uncounted));
        } else if let Some(last) = self.found.lines.last_mut() {
            last.counts += uncounted;
        }
    }

    /// Where the expression matches in the lines found, relative to their start.
    fn places(&self, found: &SinkMatch<'_>) -> Vec<Range<usize>> {
        let range = found.bytes_range_in_buffer();
        // The expression may look a little past the line, and must not run on to a match far below it.
        let end = (range.end + LOOK_AHEAD).min(found.buffer().len());
        let Some(hay) = found.buffer().get(..end) else {
            return Vec::new();
        };
        let mut places = Vec::new();
        let searched = self.query.matcher.find_iter_at(hay, range.start, |place| {
            if place.start() >= range.end {
                return false;
            }
            if place.end() > place.start() {
                places.push(place.start() - range.start..place.end().min(range.end) - range.start);
            }
            places.len() < MOST_MARKS
        });
        // This engine has no errors of its own; without marks the line is still right.
        if searched.is_err() { Vec::new() } else { places }
    }

    /// What one call of the searcher counts: a line, or each match where several may stand in what was found.
    fn count(&self, places: &[Range<usize>]) -> u64 {
        if self.query.lines == Lines::Spanned {
            places.len().max(1) as u64
        } else {
            1
        }
    }
}

/// The places that lie in a line at `offset`, relative to the line.
fn inside(places: &[Range<usize>], offset: usize, length: usize) -> Vec<Range<usize>> {
    let end = offset + length;
    places
        .iter()
        .skip_while(|place| place.end <= offset)
        .take_while(|place| place.start < end)
        .map(|place| place.start.max(offset) - offset..place.end.min(end) - offset)
        .collect()
}

impl Sink for Lens<'_> {
    type Error = io::Error;

    fn matched(&mut self, _searcher: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        if self.stop.is_set() {
            return Err(io::Error::other("stopped"));
        }
        if self.found.matches == 0
            && let (false, Keep::Ask(is_beyond)) = (self.counts_only, self.keep)
        {
            self.counts_only = is_beyond();
        }
        let wanted = !self.counts_only && self.found.matches < MOST_MATCHES;
        // Finding the places again is only worth it where they are shown or are what is counted.
        let places = if wanted || self.query.lines == Lines::Spanned {
            self.places(found)
        } else {
            Vec::new()
        };
        self.found.matches += self.count(&places);
        if wanted {
            self.keep_lines(found, &places);
        }
        self.before.clear();
        Ok(self.output != Output::Files)
    }

    fn context(&mut self, _searcher: &Searcher, found: &SinkContext<'_>) -> io::Result<bool> {
        if self.counts_only {
            return Ok(true);
        }
        let line = Line::new(found.line_number().unwrap_or(0), false, found.bytes(), &[]);
        match found.kind() {
            SinkContextKind::Before => self.before.push(line),
            // Lines after a match that was only counted are not wanted either.
            _ if self.found.matches <= MOST_MATCHES && self.follows(line.number) => {
                self.found.lines.push(line);
            }
            _ => {}
        }
        Ok(true)
    }

    fn binary_data(&mut self, _searcher: &Searcher, _offset: u64) -> io::Result<bool> {
        self.binary = true;
        Ok(false)
    }
}

impl Lens<'_> {
    /// Whether a line belongs to the last match that was kept.
    fn follows(&self, number: u64) -> bool {
        self.found
            .lines
            .iter()
            .rev()
            .find(|line| line.matched)
            .is_some_and(|last| number <= last.number + self.context)
    }
}
