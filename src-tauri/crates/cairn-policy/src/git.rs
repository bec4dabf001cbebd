//! Which calls of git only read. SPEC T23, cases G06 to G08.
//!
//! Owns: the allow-list of subcommands and options. Must never know: repositories, how git is started. Everything that
//! is not on the list is a command like any other and asks; options are matched whole, because git takes any
//! beginning of a long one (case G08).

mod options;

use options::{FORMS, Fits, Form};

/// A call of git that only reads, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitRead {
    /// The subcommand.
    pub subcommand: &'static str,
    /// Its options with their values, in order.
    pub options: Vec<String>,
    /// Words before `--`: revisions, or files where the subcommand takes both.
    pub words: Vec<String>,
    /// Words after `--`: files and patterns, relative to where it runs.
    pub paths: Vec<String>,
    /// Whether the contents of files are printed, so that credential files must be left out.
    pub shows_content: bool,
}

/// Takes a call apart that only reads; none for all others. `args` are the words after `git`.
pub fn git_read(args: &[String]) -> Option<GitRead> {
    let (name, rest) = args.split_first()?;
    let form = FORMS.iter().find(|form| form.name == name)?;
    let mut read = GitRead {
        subcommand: form.name,
        options: Vec::new(),
        words: Vec::new(),
        paths: Vec::new(),
        shows_content: form.content.always(),
    };
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        if word == "--" {
            read.paths.extend(words.by_ref().cloned());
        } else if word.starts_with('-') {
            let option = form.option(word)?;
            read.shows_content |= form.content.by(word);
            read.options.push(word.clone());
            if option == Fits::TakesNext {
                let value = words
                    .next()
                    .filter(|value| is_plain(value) && !value.starts_with('-'))?;
                read.options.push(value.clone());
            }
        } else {
            read.words.push(word.clone());
        }
    }
    let is_fine = read
        .words
        .iter()
        .all(|word| is_revision(word) || (is_path(word) && !word.contains(':')))
        && read.paths.iter().all(|path| is_path(path))
        && form.takes(&read);
    is_fine.then_some(read)
}

/// Words that every program takes as they are.
fn is_plain(word: &str) -> bool {
    !word.is_empty() && word.len() <= 1_000 && !word.chars().any(char::is_control)
}

/// A revision or range in plain letters. `REV:PATH` names a file of another time: it is judged nowhere, so it asks.
fn is_revision(word: &str) -> bool {
    is_plain(word)
        && !word.starts_with('-')
        && word
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_./@{}^~+-".contains(c))
}

/// A file or pattern without git's own magic (`:(top)…`), which would reach around what was judged.
fn is_path(word: &str) -> bool {
    is_plain(word) && !word.starts_with(':') && !word.contains('\\')
}

impl Form {
    fn option(&self, word: &str) -> Option<Fits> {
        self.options
            .iter()
            .flat_map(|list| list.iter())
            .map(|option| option.fits(word))
            .find(|fits| *fits != Fits::Not)
    }

    fn takes(&self, read: &GitRead) -> bool {
        match self.name {
            // A word without one of these makes a branch.
            "branch" => {
                let lists = [
                    "--list",
                    "-l",
                    "--contains",
                    "--no-contains",
                    "--merged",
                    "--no-merged",
                ];
                read.paths.is_empty()
                    && (read.words.is_empty() || read.options.iter().any(|o| lists.contains(&o.as_str())))
            }
            "rev-parse" => read.paths.is_empty(),
            // Git follows one path and takes no other beside it, so nothing could be left out; and what it follows may
            // have been a credential file under an earlier name.
            "log" | "show" => !(read.shows_content && read.options.iter().any(|o| o == "--follow")),
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests;
