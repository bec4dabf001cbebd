//! The table's own examples.

use super::table::{DATA, Table};
use super::{Class, form_of, unwrapped};
use crate::script::Script;

fn words(line: &str) -> Vec<String> {
    // As a person writes them down: blanks part words, single quotes hold them together.
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quoted = false;
    for c in line.chars().chain([' ']) {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            c => word.push(c),
        }
    }
    words
}

/// An example line of the table.
struct Example {
    line: &'static str,
    fits: bool,
    at: usize,
}

fn examples() -> Vec<Example> {
    let example = |(at, line): (usize, &'static str)| {
        let (key, line) = line.split_once(' ')?;
        matches!(key, "fits" | "asks").then_some(Example {
            line,
            fits: key == "fits",
            at: at + 1,
        })
    };
    DATA.lines().enumerate().filter_map(example).collect()
}

#[test]
fn the_table_can_be_read_and_each_form_has_an_example_or_a_class_of_its_own() {
    assert_eq!(Table::read(DATA).map(|_| ()), Ok(()));
    assert!(examples().len() > 250, "{}", examples().len());
    for broken in [
        "form x",
        "[reads]\n\nform x\nwhat y",
        "[what]\n\nform x",
        "[reads]\n\nform x\ntakes what",
    ] {
        assert!(Table::read(broken).is_err(), "{broken}");
    }
}

#[test]
fn p05_to_p76_each_example_of_the_table_fits_or_asks_as_it_says() {
    let mut wrong = Vec::new();
    for example in examples() {
        let mut words = words(example.line);
        let mut broken = false;
        while let Some(inner) = unwrapped(&words) {
            let Ok(inner) = inner else {
                broken = true;
                break;
            };
            words = inner.to_vec();
        }
        let form = form_of(&words);
        let class = form.and_then(|form| form.class);
        let taken = form.map(|form| form.take(&words));
        let outside = |path: &String| path.starts_with('/') || path.starts_with("..");
        let git = words[0] == "git" && form.is_some_and(|form| form.class == Some(Class::Git));
        let reading = [
            "status",
            "diff",
            "log",
            "show",
            "blame",
            "branch",
            "ls-files",
            "rev-parse",
        ];
        let reads_git = git && reading.contains(&words[1].as_str());
        let fits = !broken
            && matches!(
                class,
                Some(Class::Reads | Class::Writes | Class::Project | Class::Git)
            )
            && (!reads_git || crate::git_read(&words[1..]).is_some())
            && matches!(&if reads_git { Some(Ok(super::Taken::default())) } else { taken.clone() }, Some(Ok(taken)) if !taken.reads.iter().chain(&taken.writes).any(outside)
                && taken.moved.iter().all(|file| !file.contains(".envrc")))
            && (matches!(class, Some(Class::Reads | Class::Writes)) || !words[1..].iter().any(outside));
        if fits != example.fits {
            wrong.push(format!(
                "line {}: {} ({class:?}, {taken:?})",
                example.at, example.line
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn examples_that_fit_can_be_written_in_the_strict_language() {
    for example in examples().iter().filter(|example| example.fits) {
        let quoted: Vec<String> = words(example.line)
            .iter()
            .map(|word| format!("'{word}'"))
            .collect();
        assert!(Script::read(&quoted.join(" ")).is_ok(), "{}", example.line);
    }
}
