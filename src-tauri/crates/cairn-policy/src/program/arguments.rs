//! Fits the words of a command to its form.

use super::script_text::{is_plain_sed, is_plain_test};
use super::{Form, Operands, Style, Value};

/// What a command that fits its form reads and writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Taken {
    /// Files and folders that it reads.
    pub reads: Vec<String>,
    /// Files and folders that it changes.
    pub writes: Vec<String>,
    /// Files that are put where the last of `writes` is, or into it where that is a folder.
    pub moved: Vec<String>,
    /// It searches the folders it reads, or the one it runs in.
    pub searches: bool,
    /// Operands, files or not.
    pub operands: usize,
}

/// Fits the words after a form's own to it; the error says which word does not fit.
impl Form {
    pub(crate) fn take(&self, words: &[String]) -> Result<Taken, String> {
        let rest = words.get(self.words.len()..).unwrap_or_default();
        let mut reader = Reader {
            form: self,
            words: rest.iter(),
            taken: Taken {
                searches: self.searches,
                ..Taken::default()
            },
            operands: Vec::new(),
            has_pattern: false,
        };
        match self.operands {
            Operands::Printed | Operands::Any => {
                return Ok(Taken {
                    operands: rest.len(),
                    ..Taken::default()
                });
            }
            Operands::Test if is_plain_test(words) => return Ok(reader.files_of_test(rest)),
            Operands::Test => return Err(unknown(rest)),
            _ => {}
        }
        reader.read()?;
        reader.end()
    }
}

/// The command behind a wrapper's own words.
pub(super) fn wrapped<'a>(form: &'a Form, words: &'a [String]) -> Result<&'a [String], String> {
    let rest = words.get(form.words.len()..).unwrap_or_default();
    let mut reader = Reader {
        form,
        words: rest.iter(),
        taken: Taken::default(),
        operands: Vec::new(),
        has_pattern: false,
    };
    while let Some(word) = reader.words.as_slice().first() {
        if word == "--" {
            reader.words.next();
            break;
        }
        if !is_option(word) {
            break;
        }
        reader.words.next();
        reader.option(word)?;
    }
    for _ in 0..form.before {
        // Durations and numbers; whatever else stands there is not what the wrapper expects.
        let fits = reader
            .words
            .next()
            .is_some_and(|word| word.starts_with(|c: char| c.is_ascii_digit()) && is_plain_word(word));
        if !fits {
            return Err(unknown(rest));
        }
    }
    let inner = reader.words.as_slice();
    match inner.first() {
        Some(program) if !program.starts_with('-') => Ok(inner),
        _ => Err(unknown(rest)),
    }
}

struct Reader<'a> {
    form: &'a Form,
    words: std::slice::Iter<'a, String>,
    taken: Taken,
    operands: Vec<&'a String>,
    has_pattern: bool,
}

impl<'a> Reader<'a> {
    fn read(&mut self) -> Result<(), String> {
        let mut in_expression = false;
        while let Some(word) = self.words.next() {
            let finds = self.form.operands == Operands::Find;
            if finds && matches!(word.as_str(), "(" | ")" | "!") {
                in_expression = true;
            } else if word == "--" && !finds {
                let rest: Vec<&String> = self.words.by_ref().collect();
                if !self.form.rest {
                    self.operands.extend(rest);
                }
            } else if is_option(word) {
                in_expression |= finds;
                self.option(word)?;
            } else if in_expression {
                return Err(unknown(std::slice::from_ref(word)));
            } else {
                self.operands.push(word);
            }
        }
        Ok(())
    }

    fn option(&mut self, word: &'a str) -> Result<(), String> {
        if self.form.recursive.iter().any(|known| is_in(word, known)) {
            self.taken.searches = true;
        }
        if self.form.digits && word.strip_prefix('-').is_some_and(is_number) {
            return Ok(());
        }
        if word.starts_with("--") || self.form.style == Style::Words {
            return self.whole(word);
        }
        let letters = word.strip_prefix('-').unwrap_or_default();
        for (at, c) in letters.char_indices() {
            let letter = letters.get(at..at + c.len_utf8()).unwrap_or_default();
            let value = self.known(letter).ok_or_else(|| not_known(word))?;
            if matches!(value, Value::Nothing | Value::Maybe) {
                continue;
            }
            let attached = letters.get(at + c.len_utf8()..).filter(|rest| !rest.is_empty());
            return self.value(word, value, attached);
        }
        Ok(())
    }

    fn whole(&mut self, word: &'a str) -> Result<(), String> {
        let (name, attached) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word, None),
        };
        let value = self.known(name).ok_or_else(|| not_known(word))?;
        match value {
            Value::Nothing if attached.is_some() => Err(not_known(word)),
            Value::Nothing | Value::Maybe => Ok(()),
            value => self.value(word, value, attached),
        }
    }

    fn value(&mut self, word: &str, value: Value, attached: Option<&'a str>) -> Result<(), String> {
        let text = match attached {
            Some(text) => text,
            None => self.words.next().ok_or_else(|| not_known(word))?,
        };
        let fits = match value {
            Value::Number => is_number(text),
            Value::Script => {
                self.has_pattern = true;
                is_plain_sed(text)
            }
            Value::Reads => {
                self.taken.reads.push(text.to_owned());
                true
            }
            Value::Writes => {
                self.taken.writes.push(text.to_owned());
                true
            }
            Value::Pattern => {
                self.has_pattern = true;
                true
            }
            Value::Text | Value::Nothing | Value::Maybe => true,
        };
        if fits { Ok(()) } else { Err(not_known(text)) }
    }

    fn known(&self, name: &str) -> Option<Value> {
        self.form
            .options
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| *value)
    }

    /// Sorts the operands by what they are to the program.
    fn end(mut self) -> Result<Taken, String> {
        if let Some(extra) = self.form.most.and_then(|most| self.operands.get(most)) {
            return Err(not_known(extra));
        }
        self.taken.operands = self.operands.len();
        let mut operands = std::mem::take(&mut self.operands).into_iter();
        let refused = match self.form.operands {
            Operands::Nothing => operands.next(),
            Operands::Targets => operands.find(|word| word.contains('=')),
            Operands::Format => operands.find(|word| !word.starts_with('+')),
            Operands::TextThenReads if !self.has_pattern => {
                self.first(&mut operands);
                None
            }
            Operands::FilterThenReads => {
                let filter = self.first(&mut operands).ok_or("it has no filter")?;
                Some(filter).filter(|filter| filter.contains("import") || filter.contains("include"))
            }
            Operands::ScriptThenReads if !self.has_pattern => {
                let script = self.first(&mut operands).ok_or("it has no script")?;
                Some(script).filter(|script| !is_plain_sed(script))
            }
            Operands::ReadsThenWrite | Operands::Moves => {
                self.moves(&mut operands)?;
                None
            }
            Operands::Writes => {
                self.taken.writes.extend(operands.by_ref().cloned());
                None
            }
            _ => None,
        };
        if let Some(word) = refused {
            return Err(not_known(word));
        }
        let reads = !matches!(
            self.form.operands,
            Operands::Texts | Operands::Targets | Operands::Format
        );
        // A lone dash is standard input.
        self.taken
            .reads
            .extend(operands.filter(|word| reads && *word != "-").cloned());
        Ok(self.taken)
    }

    /// The first operand, which is no file.
    fn first(&mut self, operands: &mut std::vec::IntoIter<&'a String>) -> Option<&'a String> {
        let first = operands.next()?;
        self.taken.operands = self.taken.operands.saturating_sub(1);
        Some(first)
    }

    /// Files, and where they go.
    fn moves(&mut self, operands: &mut std::vec::IntoIter<&'a String>) -> Result<(), String> {
        let last = operands.next_back().ok_or("it names no files")?;
        self.taken.moved = operands.clone().cloned().collect();
        if self.form.operands == Operands::Moves {
            self.taken.writes.extend(operands.by_ref().cloned());
        }
        self.taken.writes.push(last.clone());
        Ok(())
    }

    fn files_of_test(mut self, words: &[String]) -> Taken {
        let is_file =
            |word: &&String| !word.starts_with('-') && !matches!(word.as_str(), "!" | "]" | "=" | "!=" | "");
        self.taken.reads = words.iter().filter(is_file).cloned().collect();
        self.taken
    }
}

fn is_option(word: &str) -> bool {
    word.len() > 1 && word.starts_with('-')
}

/// Whether an option word holds that option: whole, or as one of its letters.
fn is_in(word: &str, option: &str) -> bool {
    word == option
        || (!option.starts_with("--")
            && !word.starts_with("--")
            && option
                .strip_prefix('-')
                .is_some_and(|letter| word.contains(letter)))
}

/// `5`, `+5`, `10k`: never a path.
fn is_number(text: &str) -> bool {
    let digits = text.trim_start_matches(['+', '-']);
    let bare = digits.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    text.len() <= 20
        && !bare.is_empty()
        && bare
            .bytes()
            .all(|b| b.is_ascii_digit() || matches!(b, b'.' | b','))
}

fn is_plain_word(word: &str) -> bool {
    word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'.')
}

fn not_known(word: &str) -> String {
    format!("`{word}` is not known to be harmless there.")
}

fn unknown(words: &[String]) -> String {
    words.first().map_or_else(
        || "It lacks something that it needs.".to_owned(),
        |word| not_known(word),
    )
}
