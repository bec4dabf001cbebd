//! Reads the table of programs.

use std::collections::HashMap;

use super::{Class, Form, Operands, Style, Value, without_version};

pub(super) const DATA: &str = include_str!("programs.txt");

/// All forms, by program.
#[derive(Debug, Default)]
pub(super) struct Table {
    forms: HashMap<&'static str, Vec<Form>>,
    wrappers: HashMap<&'static str, Form>,
}

impl Table {
    /// Reads the table; the error names the line.
    pub(super) fn read(text: &'static str) -> Result<Self, String> {
        let mut table = Self::default();
        let mut section = None;
        let mut block: Vec<(usize, &'static str)> = Vec::new();
        let blank = (text.lines().count(), "");
        for (at, line) in text.lines().enumerate().chain([blank]) {
            let line = line.trim_end();
            if line.starts_with('#') {
                continue;
            }
            if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                section = Some(name);
            } else if !line.is_empty() {
                block.push((at + 1, line));
            } else if !block.is_empty() {
                let section = section.ok_or("a form stands in front of the first section")?;
                table.add(section, &std::mem::take(&mut block))?;
            }
        }
        Ok(table)
    }

    pub(super) fn form_of(&self, words: &[String]) -> Option<&Form> {
        let (program, rest) = words.split_first()?;
        let forms = self.forms.get(without_version(program))?;
        let begins = |form: &&Form| {
            form.words.len() <= words.len()
                && form
                    .words
                    .iter()
                    .skip(1)
                    .zip(rest)
                    .all(|(known, word)| known == word)
        };
        forms.iter().filter(begins).max_by_key(|form| form.words.len())
    }

    pub(super) fn is_known(&self, program: &str) -> bool {
        self.forms.contains_key(without_version(program)) || self.wrappers.contains_key(program)
    }

    pub(super) fn wrapper_of(&self, words: &[String]) -> Option<&Form> {
        self.wrappers.get(words.first()?.as_str())
    }

    fn add(&mut self, section: &'static str, block: &[(usize, &'static str)]) -> Result<(), String> {
        let class = class(section)?;
        let mut names = Vec::new();
        for (_, line) in block {
            let (key, value) = line.split_once(' ').unwrap_or((line, ""));
            match key {
                "form" => names.extend(value.split('|').map(str::trim)),
                "names" => names.extend(value.split(' ')),
                _ => {}
            }
        }
        for name in names {
            let mut form = Form {
                words: name.split(' ').collect(),
                class,
                ..Form::default()
            };
            for (at, line) in block {
                form.set(line)
                    .map_err(|problem| format!("line {at}: {problem}"))?;
            }
            let program = form.words.first().copied().ok_or("a form has no name")?;
            if class.is_none() {
                self.wrappers.insert(program, form);
            } else {
                self.forms.entry(program).or_default().push(form);
            }
        }
        Ok(())
    }
}

impl Form {
    fn set(&mut self, line: &'static str) -> Result<(), String> {
        let (key, value) = line.split_once(' ').unwrap_or((line, ""));
        let number = || value.parse::<usize>().map_err(|error| format!("{line}: {error}"));
        match key {
            "form" | "names" | "fits" | "asks" => {}
            "style" => {
                self.style = if value == "words" {
                    Style::Words
                } else {
                    return Err(line.to_owned());
                }
            }
            "flags" => self.add_options(value, Value::Nothing),
            "numbers" => self.add_options(value, Value::Number),
            "texts" => self.add_options(value, Value::Text),
            "patterns" => self.add_options(value, Value::Pattern),
            "maybe" => self.add_options(value, Value::Maybe),
            "reads" => self.add_options(value, Value::Reads),
            "writes" => self.add_options(value, Value::Writes),
            "scripts" => self.add_options(value, Value::Script),
            "recursive" => {
                self.recursive.extend(value.split(' '));
                self.add_options(value, Value::Nothing);
            }
            "digits" => self.digits = true,
            "rest" => self.rest = true,
            "searches" => self.searches = true,
            "most" => self.most = Some(number()?),
            "named" => self.names = number()?,
            "before" => self.before = number()?,
            "takes" => self.operands = operands(value)?,
            other => return Err(format!("`{other}` is no key")),
        }
        Ok(())
    }

    fn add_options(&mut self, names: &'static str, value: Value) {
        for name in names.split(' ') {
            let letters = name.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
            match letters {
                // `-abc` stands for three options.
                Some(letters) if self.style == Style::Letters && letters.len() > 1 => {
                    self.options.extend(letters.char_indices().filter_map(|(at, c)| {
                        let letter = letters.get(at..at + c.len_utf8())?;
                        Some((letter, value))
                    }));
                }
                Some(letter) if self.style == Style::Letters => self.options.push((letter, value)),
                _ => self.options.push((name, value)),
            }
        }
    }
}

fn class(section: &str) -> Result<Option<Class>, String> {
    Ok(Some(match section {
        "reads" => Class::Reads,
        "writes" => Class::Writes,
        "project" => Class::Project,
        "git" => Class::Git,
        "network" => Class::Network,
        "destructive" => Class::Destructive,
        "text" => Class::Text,
        "wrappers" => return Ok(None),
        other => return Err(format!("`{other}` is no class")),
    }))
}

fn operands(value: &str) -> Result<Operands, String> {
    Ok(match value {
        "nothing" => Operands::Nothing,
        "reads" => Operands::Reads,
        "writes" => Operands::Writes,
        "reads, then write" => Operands::ReadsThenWrite,
        "moves" => Operands::Moves,
        "format" => Operands::Format,
        "filter, then reads" => Operands::FilterThenReads,
        "texts" => Operands::Texts,
        "text, then reads" => Operands::TextThenReads,
        "script, then reads" => Operands::ScriptThenReads,
        "find" => Operands::Find,
        "test" => Operands::Test,
        "printed" => Operands::Printed,
        "any" => Operands::Any,
        "targets" => Operands::Targets,
        other => return Err(format!("`{other}` is no kind of operand")),
    })
}
