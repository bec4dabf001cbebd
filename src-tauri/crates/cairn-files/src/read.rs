//! Reading: whole files up to a limit, pages of lines of any file in constant memory.

mod stream;

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use rustix::fs::Stat;
use serde::{Deserialize, Serialize};

use crate::coverage::{ContentId, LineRange};
use crate::encoding::{self, Detected, Encoding};
use crate::{FileError, Root, hash, lines};

/// Up to this size a file is known by the hash of the whole of it, and its lines are counted; bytes.
pub const WHOLE_LIMIT: u64 = 16 * 1024 * 1024;
/// Up to this size a file is edited; bytes. The content before and after is held at once, and no other copy of it.
pub const EDIT_LIMIT: u64 = 256 * 1024 * 1024;
/// Characters of a line that are shown; a longer one is cut and does not count as seen.
pub const LINE_WIDTH: usize = 2_000;
/// Characters that a page counts for each line besides its text: its number, a tab, its end.
pub const LINE_COST: usize = 8;
/// The same for a line that is cut, which the reader must be told.
pub const CUT_COST: usize = 48;
/// Tries to read a file at rest.
const TRIES: usize = 3;

/// What the file system says of a file's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// Bytes.
    pub size: u64,
    /// Time of the last change of content, nanoseconds since 1970.
    pub modified: i64,
    /// Time of the last change of content or of what is told of it, nanoseconds since 1970.
    pub changed: i64,
    /// Number of the file within its device.
    pub inode: u64,
    /// The device.
    pub device: u64,
}

impl Stamp {
    /// Takes it from what the system says.
    pub(crate) fn of(stat: &Stat) -> Self {
        let nanos =
            |seconds: i64, part: u64| seconds.saturating_mul(1_000_000_000).saturating_add(part as i64);
        #[allow(clippy::unnecessary_cast, clippy::useless_conversion)] // The widths differ between systems.
        Self {
            size: stat.st_size.max(0) as u64,
            modified: nanos(stat.st_mtime as i64, stat.st_mtime_nsec as u64),
            changed: nanos(stat.st_ctime as i64, stat.st_ctime_nsec as u64),
            inode: stat.st_ino as u64,
            device: stat.st_dev as u64,
        }
    }
}

/// The whole of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Hex SHA-256 of `bytes`.
    pub hash: String,
    /// What the file system says.
    pub stamp: Stamp,
    /// Permission bits.
    pub mode: u32,
    /// Names it has; more than one are hard links.
    pub links: u64,
}

/// Which lines are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRequest {
    /// First line, from 1.
    pub first: u64,
    /// Lines at most.
    pub count: u64,
    /// Characters at most, [`LINE_COST`] for each line and [`CUT_COST`] for each cut one included. At least one line is given whatever this says.
    pub chars: usize,
}

/// A line of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageLine {
    /// Its number, from 1.
    pub number: u64,
    /// Its text without its end, at most [`LINE_WIDTH`] characters.
    pub text: String,
    /// What is missing at its end: characters, or bytes where the file is above [`WHOLE_LIMIT`]; 0 when whole.
    pub hidden: u64,
}

/// How much there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Total {
    /// Lines of the file.
    Lines(u64),
    /// Bytes of a file above [`WHOLE_LIMIT`], whose lines are not counted.
    Bytes(u64),
}

/// Some lines of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// How the file is written.
    pub encoding: Encoding,
    /// Whether it begins with a byte order mark.
    pub marked: bool,
    /// The lines; empty when the file is, or has fewer than were skipped.
    pub lines: Vec<PageLine>,
    /// How much there is.
    pub total: Total,
    /// First line that is not in this page; none at the end of the file.
    pub next: Option<u64>,
    /// What was read, for [`crate::coverage::Coverage`]; none when the file changed while it was read.
    pub content: Option<ContentId>,
}

impl Page {
    /// The lines that were shown whole.
    pub fn seen(&self) -> Vec<LineRange> {
        let mut seen: Vec<LineRange> = Vec::new();
        for line in self.lines.iter().filter(|line| line.hidden == 0) {
            match seen.last_mut() {
                Some(range) if range.last + 1 == line.number => range.last = line.number,
                _ => seen.push(LineRange {
                    first: line.number,
                    last: line.number,
                }),
            }
        }
        seen
    }
}

/// What reading lines of a file gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lines {
    /// Text.
    Text(Page),
    /// The file is not text.
    Binary {
        /// Its size.
        bytes: u64,
    },
}

/// Reads a whole file, if possible while nobody writes to it; its hash is of what was read in any case.
pub fn whole(root: &Root, real: &Path, limit: u64) -> Result<Content, FileError> {
    let mut tries = TRIES;
    loop {
        let (mut file, before) = root.open_file(real)?;
        let stamp = Stamp::of(&before);
        let shown = root.show(real);
        let bytes = read_limited(&mut file, stamp.size, limit, &shown)?;
        let after = rustix::fs::fstat(&file).map_err(|errno| FileError::from_errno("read", &shown, errno))?;
        tries -= 1;
        if tries > 0 && Stamp::of(&after) != stamp {
            continue;
        }
        let hash = hash::of_bytes(&bytes);
        #[allow(clippy::unnecessary_cast, clippy::useless_conversion)] // The widths differ between systems.
        return Ok(Content {
            hash,
            bytes,
            stamp,
            mode: before.st_mode as u32 & 0o7777,
            links: before.st_nlink as u64,
        });
    }
}

/// The hash that [`whole`] would tell, in constant memory.
pub fn whole_hash(root: &Root, real: &Path, limit: u64) -> Result<String, FileError> {
    let mut tries = TRIES;
    loop {
        let (mut file, before) = root.open_file(real)?;
        let stamp = Stamp::of(&before);
        let shown = root.show(real);
        if stamp.size > limit {
            return Err(FileError::TooLarge {
                shown,
                size: stamp.size,
                limit,
            });
        }
        // It may grow while it is read; what lies beyond the limit makes it another content than any that was read.
        let hash = hash::of_reader((&mut file).take(limit + 1))
            .map_err(|error| FileError::from_io("read", &shown, &error))?;
        let after = rustix::fs::fstat(&file).map_err(|errno| FileError::from_errno("read", &shown, errno))?;
        tries -= 1;
        if tries == 0 || Stamp::of(&after) == stamp {
            return Ok(hash);
        }
    }
}

/// Reads lines of a file. `stopped` is asked now and then while lines are skipped; once it says yes, reading
/// ends with an error.
pub fn page(
    root: &Root,
    real: &Path,
    request: &PageRequest,
    stopped: &dyn Fn() -> bool,
) -> Result<Lines, FileError> {
    match whole(root, real, WHOLE_LIMIT) {
        Ok(content) => Ok(page_of(&content, request)),
        Err(FileError::TooLarge { .. }) => {
            let (file, stat) = root.open_file(real)?;
            stream::page(file, Stamp::of(&stat), request, stopped)
                .map_err(|error| FileError::from_io("read", &root.show(real), &error))
        }
        Err(error) => Err(error),
    }
}

/// Lines of a file that was read whole.
pub fn page_of(content: &Content, request: &PageRequest) -> Lines {
    let Some(decoded) = encoding::decode(&content.bytes) else {
        return Lines::Binary {
            bytes: content.bytes.len() as u64,
        };
    };
    let ends = lines::ends_of(&decoded.text);
    let all = lines::split(&decoded.text, ends);
    let mut fill = Fill::new(request);
    for line in all
        .iter()
        .skip(fill.skip())
        .take(usize::try_from(request.count).unwrap_or(usize::MAX))
    {
        let text = lines::without_end(line);
        let hidden = text.chars().count().saturating_sub(LINE_WIDTH) as u64;
        if !fill.add(text.chars().take(LINE_WIDTH).collect(), hidden) {
            break;
        }
    }
    let next = fill.next;
    Lines::Text(Page {
        encoding: decoded.encoding,
        marked: decoded.bom > 0,
        lines: fill.lines,
        total: Total::Lines(all.len() as u64),
        next: (next <= all.len() as u64).then_some(next),
        content: Some(ContentId::Whole {
            hash: content.hash.clone(),
        }),
    })
}

/// Lines of a text that is not a file, numbered from 1.
pub fn page_of_text(text: &str, request: &PageRequest) -> (Vec<PageLine>, Total, Option<u64>) {
    let all: Vec<&str> = text.split_inclusive('\n').collect();
    let mut fill = Fill::new(request);
    for line in all
        .iter()
        .skip(fill.skip())
        .take(usize::try_from(request.count).unwrap_or(usize::MAX))
    {
        let text = lines::without_end(line);
        let hidden = text.chars().count().saturating_sub(LINE_WIDTH) as u64;
        if !fill.add(text.chars().take(LINE_WIDTH).collect(), hidden) {
            break;
        }
    }
    let next = fill.next;
    (
        fill.lines,
        Total::Lines(all.len() as u64),
        (next <= all.len() as u64).then_some(next),
    )
}

/// What the first bytes of a file are, at most [`encoding::SAMPLE`] of them.
pub fn first_bytes(root: &Root, real: &Path) -> Result<(Vec<u8>, Stamp), FileError> {
    let (file, stat) = root.open_file(real)?;
    let mut bytes = Vec::new();
    file.take(encoding::SAMPLE as u64)
        .read_to_end(&mut bytes)
        .map_err(|error| FileError::from_io("read", &root.show(real), &error))?;
    Ok((bytes, Stamp::of(&stat)))
}

fn read_limited(file: &mut File, size: u64, limit: u64, shown: &str) -> Result<Vec<u8>, FileError> {
    let too_large = |size| FileError::TooLarge {
        shown: shown.to_owned(),
        size,
        limit,
    };
    if size > limit {
        return Err(too_large(size));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    // It may grow while it is read.
    let read = file.take(limit + 1).read_to_end(&mut bytes);
    read.map_err(|error| FileError::from_io("read", shown, &error))?;
    if bytes.len() as u64 > limit {
        Err(too_large(bytes.len() as u64))
    } else {
        Ok(bytes)
    }
}

/// A page being filled up to its budget.
struct Fill {
    first: u64,
    next: u64,
    left: usize,
    lines: Vec<PageLine>,
}

impl Fill {
    fn new(request: &PageRequest) -> Self {
        let first = request.first.max(1);
        Self {
            first,
            next: first,
            left: request.chars,
            lines: Vec::new(),
        }
    }

    fn skip(&self) -> usize {
        usize::try_from(self.first - 1).unwrap_or(usize::MAX)
    }

    /// Adds a line while there is room; the first one always, cut if it must be.
    fn add(&mut self, mut text: String, mut hidden: u64) -> bool {
        let extra = if hidden > 0 {
            LINE_COST + CUT_COST
        } else {
            LINE_COST
        };
        let mut cost = text.chars().count() + extra;
        if cost > self.left {
            if !self.lines.is_empty() {
                return false;
            }
            let keep = self.left.saturating_sub(LINE_COST + CUT_COST);
            hidden += text.chars().count().saturating_sub(keep) as u64;
            text = text.chars().take(keep).collect();
            cost = self.left;
        }
        self.left -= cost;
        self.lines.push(PageLine {
            number: self.next,
            text,
            hidden,
        });
        self.next += 1;
        true
    }
}

/// The encoding by the first bytes; none when they are not text.
fn text_encoding(sample: &[u8]) -> Option<(Encoding, usize)> {
    match encoding::detect(sample) {
        Detected::Text { encoding, bom } => Some((encoding, bom)),
        Detected::Binary => None,
    }
}

#[cfg(test)]
mod tests;
