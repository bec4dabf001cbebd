//! What a folder's own files propose, in full. SPEC A6, P11. Reads a few small files; runs nothing.
//!
//! Owns: which files propose something. Must never know: whether it is trusted. Other programs' configuration (hooks of
//! `.claude`, `.cursor`, `.codex`, `.gemini` and the like) is never taken over and so never listed; the servers in
//! `.mcp.json` are, because they are offered for import (X1), and nobody shall import what he did not read.

use std::path::Path;

use cairn_protocol::{Proposal, ProposalKind};
use serde_json::Value;
use toml_edit::{DocumentMut, Item};

use super::Entry;
use crate::project::{OWN_CONFIG, Project};

/// Servers that other programs would start.
const SERVERS: &str = ".mcp.json";
/// Folders whose files are words for the model.
const WORDS: [&str; 3] = [".cairn/commands", ".cairn/roles", ".cairn/skills"];
/// More files of that kind than a person reads.
const MOST_FILES: usize = 200;
/// The file that configures git.
const GIT: &str = ".git/config";

/// What a folder proposes.
#[derive(Debug, Default)]
pub(crate) struct Listed {
    pub(super) entries: Vec<Entry>,
    /// Why the list is not whole.
    pub(super) problem: Option<String>,
}

impl Listed {
    pub(super) fn of(project: &Project) -> Self {
        let mut listed = Self::default();
        match project.own_config() {
            Ok(text) => listed.config(&text.unwrap_or_default()),
            Err(why) => listed.problem = Some(why),
        }
        match project.own_text(SERVERS) {
            Ok(text) => listed.servers(text.as_deref()),
            Err(why) => listed.is_not_whole(why),
        }
        for folder in WORDS {
            listed.words(project, folder);
        }
        listed.git(project.path());
        listed.entries.sort_by_key(|entry| entry.proposal.kind);
        listed
    }

    pub(super) fn proposals(&self) -> Vec<Proposal> {
        self.entries.iter().map(|entry| entry.proposal.clone()).collect()
    }

    /// Texts of the rules that would let something run.
    pub(crate) fn rule_texts(&self) -> impl Iterator<Item = &str> {
        let proposals = self.entries.iter().map(|entry| &entry.proposal);
        proposals
            .filter(|proposal| proposal.kind == ProposalKind::Rule)
            .map(|proposal| proposal.text.as_str())
    }

    /// The lines of the repository's configuration that run something.
    pub(super) fn git_lines(&self) -> Vec<String> {
        let is_line = |proposal: &&Proposal| proposal.kind == ProposalKind::Git && proposal.file == GIT;
        let proposals = self.entries.iter().map(|entry| &entry.proposal);
        proposals
            .filter(is_line)
            .map(|proposal| proposal.text.clone())
            .collect()
    }

    fn is_not_whole(&mut self, why: String) {
        self.problem.get_or_insert(why);
    }

    fn add(&mut self, kind: ProposalKind, name: &str, text: String, file: &str) {
        self.entries.push(Entry {
            proposal: Proposal {
                kind,
                name: name.to_owned(),
                text,
                file: file.to_owned(),
            },
            mark: None,
        });
    }

    /// Everything but rules that ask or deny and tools that are off, which only tighten.
    pub(super) fn config(&mut self, text: &str) {
        let document = match text.parse::<DocumentMut>() {
            Ok(document) => document,
            Err(error) => {
                let why = error.message().trim().replace('\n', "; ");
                return self.is_not_whole(format!("{OWN_CONFIG} of this folder cannot be read: {why}."));
            }
        };
        let values: Value = toml_edit::de::from_str(text).unwrap_or_default();
        for (section, item) in document.iter() {
            let Some(table) = item.as_table_like() else {
                self.add(
                    kind_of(section),
                    section,
                    exact(item, values.get(section)),
                    OWN_CONFIG,
                );
                continue;
            };
            for (key, item) in table.iter() {
                let value = values.get(section).and_then(|section| section.get(key));
                let name = format!("{section}.{key}");
                match (section, key) {
                    ("permissions", "ask" | "deny") => {}
                    ("permissions", "allow") => self.rules(&name, item, value),
                    ("tools", _) if item.as_bool() == Some(false) => {}
                    ("mcp", _) => self.add(ProposalKind::Server, key, server(value), OWN_CONFIG),
                    _ => self.add(kind_of(section), &name, exact(item, value), OWN_CONFIG),
                }
            }
        }
    }

    fn rules(&mut self, name: &str, item: &Item, value: Option<&Value>) {
        let rules: Option<Vec<&str>> = item
            .as_array()
            .and_then(|rules| rules.iter().map(|rule| rule.as_str()).collect());
        match rules {
            Some(rules) => {
                for rule in rules {
                    self.add(ProposalKind::Rule, "", rule.to_owned(), OWN_CONFIG);
                }
            }
            None => self.add(ProposalKind::Setting, name, exact(item, value), OWN_CONFIG),
        }
    }

    fn servers(&mut self, text: Option<&str>) {
        let Some(text) = text else { return };
        let all: Value = match serde_json::from_str(text) {
            Ok(all) => all,
            Err(error) => {
                return self.is_not_whole(format!("{SERVERS} of this folder cannot be read: {error}."));
            }
        };
        let known = ["mcpServers", "servers"]
            .iter()
            .find_map(|key| all.get(key)?.as_object());
        let Some(servers) = known else {
            return;
        };
        for (name, value) in servers {
            self.add(ProposalKind::Server, name, server(Some(value)), SERVERS);
        }
    }

    /// Files are listed by name and size and known again by their content.
    fn words(&mut self, project: &Project, folder: &str) {
        let mut names = Vec::new();
        files_beneath(&project.path().join(folder), folder, &mut names);
        if names.len() > MOST_FILES {
            return self.is_not_whole(format!(
                "{folder} of this folder has more than {MOST_FILES} files, too many to be read by a person."
            ));
        }
        names.sort();
        for name in names {
            match project.own_text(&name) {
                Ok(Some(text)) => {
                    let size = format!("{} lines, {} bytes", text.lines().count(), text.len());
                    self.add(ProposalKind::Command, &name, size, folder);
                    if let Some(entry) = self.entries.last_mut() {
                        entry.mark = Some(cairn_files::hash::of_bytes(text.as_bytes()));
                    }
                }
                Ok(None) => self.is_not_whole(format!("{name} of this folder cannot be read by that name.")),
                Err(why) => self.is_not_whole(why),
            }
        }
    }

    fn git(&mut self, folder: &Path) {
        let Some(custom) = cairn_tools::git::custom_lines(folder) else {
            return;
        };
        let reads = "git status, diff, log, show, blame, branch, ls-files, rev-parse";
        self.add(ProposalKind::Git, "", reads.to_owned(), ".git");
        for line in custom.lines {
            self.add(ProposalKind::Git, "", line, GIT);
        }
    }
}

fn files_beneath(folder: &Path, shown: &str, names: &mut Vec<String>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries.filter_map(Result::ok).take(MOST_FILES + 1) {
        if names.len() > MOST_FILES {
            return;
        }
        let name = format!("{shown}/{}", entry.file_name().to_string_lossy());
        match entry.file_type() {
            // As deep as a skill's own folder; links are followed by whoever reads the file, and checked there.
            Ok(kind) if kind.is_dir() && shown.matches('/').count() < 3 => {
                files_beneath(&entry.path(), &name, names);
            }
            Ok(kind) if kind.is_dir() => {}
            _ => names.push(name),
        }
    }
}

fn kind_of(section: &str) -> ProposalKind {
    match section {
        "hooks" => ProposalKind::Hook,
        "mcp" => ProposalKind::Server,
        "commands" | "roles" | "skills" => ProposalKind::Command,
        "diagnostics" => ProposalKind::Checker,
        _ => ProposalKind::Setting,
    }
}

/// A value as it stands in the file; of a table its values on one line.
fn exact(item: &Item, value: Option<&Value>) -> String {
    match (item.as_value(), value) {
        (Some(plain), _) => plain.to_string().trim().to_owned(),
        (None, Some(value)) => value.to_string(),
        (None, None) => item.to_string().trim().to_owned(),
    }
}

/// A server as it would be started: variables, command line, then whatever else is said of it, a line each.
fn server(value: Option<&Value>) -> String {
    let Some(table) = value.and_then(Value::as_object) else {
        return value.map(Value::to_string).unwrap_or_default();
    };
    let words = |key: &str| -> Option<Vec<&str>> {
        match table.get(key)? {
            Value::String(word) => Some(vec![word]),
            Value::Array(words) => words.iter().map(Value::as_str).collect(),
            _ => None,
        }
    };
    let (command, arguments) = (words("command"), words("args"));
    let mut said = Vec::new();
    let mut line = Vec::new();
    if let Some(command) = &command {
        if let Some(variables) = table.get("env").and_then(Value::as_object) {
            let quoted = |(name, value): (&String, &Value)| match value {
                Value::String(text) => format!("{name}={}", quoted(text)),
                other => format!("{name}={other}"),
            };
            line.extend(variables.iter().map(quoted));
        }
        let all = command.iter().chain(arguments.iter().flatten());
        line.extend(all.map(|word| quoted(word)));
        said.push(line.join(" "));
    }
    let is_said = |key: &str| match key {
        "command" => command.is_some(),
        "args" => command.is_some() && arguments.is_some(),
        "env" => command.is_some() && table.get("env").is_some_and(Value::is_object),
        _ => false,
    };
    let rest = table.iter().filter(|(key, _)| !is_said(key));
    said.extend(rest.map(|(key, value)| format!("{key} = {value}")));
    said.join("\n")
}

/// A word for a POSIX shell, quoted unless it is plain.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./=:,@%+^".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
