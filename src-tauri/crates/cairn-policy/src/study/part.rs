//! One command of a line.

use std::path::Path;

use super::Piped;
use super::folders::Folders;
use crate::facts::{Found, RealKind, Repository, Surroundings, is_outside_project};
use crate::program::{Class, Form, Taken, form_of, is_builtin, is_known, unwrapped, without_version};
use crate::script::{Joint, Redirect, Simple, Stream};
use crate::{Effect, Place, Places, git_read};

/// Variables that change nothing but what is printed. SPEC P5.
const HARMLESS: &[&str] = &[
    "CI",
    "NO_COLOR",
    "TERM",
    "LANG",
    "LC_ALL",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "FORCE_COLOR",
    "PYTHONUNBUFFERED",
    "CARGO_TERM_COLOR",
];

/// Programs that only pass on what a pipe gives them. SPEC P5.
const FILTERS: &[&str] = &["head", "tail", "wc", "sort"];

/// How a program was named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Named {
    /// By a name that starts a program outside the project.
    Name,
    /// By a path.
    Path,
    /// By a name that starts something inside the project, or nothing that is known.
    Other,
}

/// What is known about one command.
#[derive(Debug)]
pub(crate) struct Part {
    /// Program and arguments, wrappers in front taken off.
    pub words: Vec<String>,
    pub named: Named,
    pub class: Class,
    pub form: Option<&'static Form>,
    /// How its words fit the form; the error says which does not. None without a form.
    pub fit: Option<Result<Taken, String>>,
    /// Needs no rule.
    pub free: bool,
    /// Why nothing but a click may run it.
    pub blocked: Vec<String>,
    /// Words that name something outside the project or a credential, where nobody knows what they are to the program.
    pub strays: Vec<String>,
    /// What its operands read and change.
    pub effects: Vec<Effect>,
    /// What its redirections read and write.
    pub redirected: Vec<Effect>,
    /// It prints what stands in files that nobody named.
    pub searches: bool,
    /// It is git in one of its reading forms.
    pub reads_git: bool,
    /// It runs in the project folder itself and nowhere else.
    pub at_root: bool,
}

/// What is needed to study a command.
pub(super) struct Studied<'a> {
    pub(super) command: &'a Simple,
    /// The line has more words than are looked at.
    pub(super) too_many: bool,
    pub(super) piped: Piped,
    pub(super) places: &'a Places,
    pub(super) facts: &'a dyn Surroundings,
}

impl Studied<'_> {
    pub(super) fn part(&self, folders: &mut Folders) -> Part {
        let mut part = Part::unknown();
        part.at_root = folders.now().iter().all(|folder| self.places.is_root(folder));
        if self.too_many {
            part.words.clone_from(&self.command.words);
            part.blocked
                .push("It has more words than are looked at one by one.".to_owned());
            return part;
        }
        self.assignments(&mut part);
        let wrapped = self.unwrap(&mut part);
        self.redirections(&mut part, folders);
        if !wrapped && part.words.first().is_some_and(|word| word == "cd") {
            self.change_folder(&mut part, folders);
            return part;
        }
        self.name(&mut part, wrapped);
        let program = part
            .words
            .first()
            .map(|word| base(word).to_owned())
            .unwrap_or_default();
        let mut known = part.words.clone();
        if let Some(first) = known.first_mut() {
            first.clone_from(&program);
        }
        part.form = form_of(&known);
        part.class = part.form.and_then(|form| form.class).unwrap_or(Class::Unknown);
        part.fit = part.form.map(|form| form.take(&part.words));
        if program == "git" {
            self.git(&mut part, folders);
        } else if part.form.is_none() && is_known(&program) {
            part.fit = Some(Err(format!("That form of {program} is not known.")));
        }
        self.operands(&mut part, folders);
        part.free = self.is_filter(&part, wrapped);
        folders.ran();
        part
    }

    fn assignments(&self, part: &mut Part) {
        for (name, _) in &self.command.assignments {
            if !HARMLESS.contains(&name.as_str()) {
                part.blocked.push(format!(
                    "It sets {name}, which could change what the program does."
                ));
            }
        }
    }

    /// Takes wrappers off; tells whether there was one.
    fn unwrap(&self, part: &mut Part) -> bool {
        let mut words = self.command.words.as_slice();
        let mut wrapped = false;
        while let Some(inner) = unwrapped(words) {
            let wrapper = words.first().map(String::as_str).unwrap_or_default();
            if !self.is_found(wrapper) {
                part.blocked.push(format!("What {wrapper} starts is not known."));
            }
            wrapped = true;
            match inner {
                Ok(inner) => words = inner,
                Err(problem) => {
                    part.blocked.push(format!("{wrapper}: {problem}"));
                    break;
                }
            }
        }
        part.words = words.to_vec();
        wrapped
    }

    fn is_found(&self, name: &str) -> bool {
        self.facts
            .program(name)
            .is_some_and(|found| is_outside_project(&found, self.places))
    }

    fn name(&self, part: &mut Part, wrapped: bool) {
        let Some(program) = part.words.first() else { return };
        if program.contains('/') {
            part.named = Named::Path;
            return;
        }
        if !wrapped && is_builtin(program) {
            part.named = Named::Name;
            return;
        }
        match self.facts.program(program) {
            Some(Found::Program(path)) if is_outside_project(&Found::Program(path.clone()), self.places) => {
                part.named = Named::Name;
                // A link may give one of our own programs another name.
                let real = path.file_name().map(|name| name.to_string_lossy().to_lowercase());
                if real.is_some_and(|name| matches!(name.as_str(), "cairn" | "cairn-desktop")) {
                    part.blocked.push(format!("{program} is Cairn itself."));
                }
            }
            Some(Found::Program(path)) => {
                let path = self.places.named(&path);
                part.blocked.push(format!(
                    "{program} would start {path}, which lies inside the project."
                ));
            }
            Some(Found::Missing) => part.blocked.push(format!("There is no program {program}.")),
            None => part.blocked.push(format!("What {program} starts is not known.")),
        }
    }

    fn redirections(&self, part: &mut Part, folders: &Folders) {
        for redirect in &self.command.redirects {
            match redirect {
                Redirect::Join(Stream::Output | Stream::Errors, _) => {}
                Redirect::Read(path) => {
                    let effects = self.reached(path, folders, &mut part.blocked, Access::Read);
                    part.redirected.extend(effects);
                }
                Redirect::Write(_, path) | Redirect::Append(_, path) if path == "/dev/null" => {}
                Redirect::Write(_, path) | Redirect::Append(_, path) => {
                    let effects = self.reached(path, folders, &mut part.blocked, Access::Write);
                    part.redirected.extend(effects);
                }
            }
        }
    }

    /// `cd FOLDER`, alone: in a pipe it would change the folder of nothing.
    fn change_folder(&self, part: &mut Part, folders: &mut Folders) {
        part.named = Named::Name;
        let alone = !self.piped.from && !self.piped.to && part.redirected.is_empty();
        let changed = match part.words.as_slice() {
            [_, target] if alone && !target.is_empty() && !target.starts_with('-') => {
                folders.change(target, self.command.joint, self.places, self.facts)
            }
            _ => Err("It changes the folder in a way that is not followed.".to_owned()),
        };
        match changed {
            Ok(()) => part.free = true,
            Err(problem) => part.blocked.push(problem),
        }
    }

    fn git(&self, part: &mut Part, folders: &Folders) {
        let arguments = part.words.get(1..).unwrap_or_default();
        let subcommand = arguments.first().cloned().unwrap_or_default();
        let reading = matches!(
            subcommand.as_str(),
            "status" | "diff" | "log" | "show" | "blame" | "branch" | "ls-files" | "rev-parse"
        );
        if let Some(read) = git_read(arguments) {
            part.reads_git = true;
            part.class = Class::Git;
            part.searches = read.shows_content;
            let reads = read.words.iter().chain(&read.paths).cloned().collect();
            part.fit = Some(Ok(Taken {
                reads,
                ..Taken::default()
            }));
        } else if reading && (subcommand != "branch" || arguments.iter().any(|word| word.starts_with('-'))) {
            part.fit = Some(Err(format!("It is no plain reading form of git {subcommand}.")));
        } else if part.form.is_none() {
            part.class = Class::Git;
            part.fit = Some(Err(format!("What git {subcommand} does here is not known.")));
        }
        if arguments.iter().any(|word| word.contains("::")) {
            part.blocked
                .push("It names a transport of git, which can run a program.".to_owned());
        }
        for folder in folders.now() {
            match self.facts.repository(folder) {
                Some(Repository::None) => {}
                Some(Repository::Plain { hooks }) => {
                    let runs = hooks.iter().find(|hook| is_run_by(hook, &subcommand));
                    if let Some(hook) = runs {
                        part.blocked
                            .push(format!("It would run the hook .git/hooks/{hook}."));
                    }
                }
                Some(Repository::Custom(line)) => part.blocked.push(format!(
                    "The repository has a git configuration of its own, which could run something: {line}"
                )),
                Some(Repository::Untrusted) => part
                    .blocked
                    .push("This folder is not trusted, so every git command in it asks.".to_owned()),
                None => part
                    .blocked
                    .push("What git would run here is not known.".to_owned()),
            }
        }
    }

    fn operands(&self, part: &mut Part, folders: &Folders) {
        let taken = match &part.fit {
            Some(Ok(taken)) => taken.clone(),
            _ => Taken::default(),
        };
        part.searches |= taken.searches && !self.only_files(&taken, folders);
        // It compares the files of two folders.
        part.searches |= part.program() == "diff" && !self.only_files(&taken, folders);
        let mut blocked = Vec::new();
        for path in &taken.reads {
            part.effects
                .extend(self.reached(path, folders, &mut blocked, Access::Read));
        }
        for path in &taken.writes {
            part.effects
                .extend(self.reached(path, folders, &mut blocked, Access::Write));
        }
        if taken.searches && taken.reads.is_empty() && !self.piped.from {
            part.effects.extend(
                folders
                    .now()
                    .iter()
                    .map(|folder| self.places.read(folder.clone())),
            );
        }
        if let Some(target) = taken.writes.last().filter(|_| !taken.moved.is_empty()) {
            part.effects
                .extend(self.moved_into(&taken.moved, target, folders, &mut blocked));
        }
        part.blocked.append(&mut blocked);
        // Where the table says what each word is, the effects say it all.
        if matches!(part.class, Class::Reads | Class::Writes) {
            return;
        }
        for word in part.words.iter().skip(1) {
            part.strays.extend(self.stray(word, folders));
        }
        part.strays.dedup();
    }

    /// Whether everything that is read is a single file, so that no folder is searched.
    fn only_files(&self, taken: &Taken, folders: &Folders) -> bool {
        let is_file = |path: &String| {
            folders.now().iter().all(|folder| {
                self.facts
                    .real(&folder.join(path))
                    .is_some_and(|real| real.kind == RealKind::File)
            })
        };
        (!taken.reads.is_empty() && taken.reads.iter().all(is_file))
            || (taken.reads.is_empty() && self.piped.from)
    }

    /// What is moved into a folder keeps its name there, and that may be a protected one.
    fn moved_into(
        &self,
        moved: &[String],
        target: &str,
        folders: &Folders,
        blocked: &mut Vec<String>,
    ) -> Vec<Effect> {
        let mut effects = Vec::new();
        for source in moved {
            match Path::new(source).file_name() {
                Some(name) => {
                    let there = Path::new(target).join(name);
                    effects.extend(self.reached(&there.to_string_lossy(), folders, blocked, Access::Write));
                }
                None => blocked.push(format!("What {source} brings along is not known.")),
            }
        }
        effects
    }

    /// What a path names in each folder that is possible.
    fn reached(
        &self,
        path: &str,
        folders: &Folders,
        blocked: &mut Vec<String>,
        access: Access,
    ) -> Vec<Effect> {
        let mut effects = Vec::new();
        for folder in folders.now() {
            match self.facts.real(&folder.join(path)) {
                None => blocked.push(format!("Where {path} leads is not known.")),
                Some(real) if real.kind == RealKind::Other => {
                    blocked.push(format!("{path} is a pipe, socket or device."));
                    effects.push(access.effect(self.places, real.path, real.links));
                }
                Some(real) => effects.push(access.effect(self.places, real.path, real.links)),
            }
        }
        effects.dedup();
        effects
    }

    /// A word that may be a path, or hold one after `=`.
    fn stray(&self, word: &str, folders: &Folders) -> Option<String> {
        let value = word.split_once('=').map(|(_, value)| value);
        let attached = word
            .find('/')
            .filter(|_| word.starts_with('-'))
            .and_then(|at| word.get(at..));
        [Some(word), value, attached]
            .into_iter()
            .flatten()
            .find_map(|candidate| {
                let is_path =
                    !candidate.starts_with('-') && !candidate.is_empty() && !candidate.contains("://");
                if !is_path {
                    return None;
                }
                folders.now().iter().find_map(|folder| {
                    let real = self.facts.real(&folder.join(candidate))?;
                    let named = self.places.named(&real.path);
                    if self.places.place(&real.path) == Place::Outside && real.path != Path::new("/dev/null")
                    {
                        return Some(format!("It names {named}, outside the project."));
                    }
                    let credential = self.places.read_care(&real.path) == crate::Care::Credential;
                    credential.then(|| format!("It names {named}, which may hold keys or passwords."))
                })
            })
    }

    /// A filter at the end of a pipe, without files.
    fn is_filter(&self, part: &Part, wrapped: bool) -> bool {
        let program = part.words.first().map(String::as_str).unwrap_or_default();
        let without_files =
            matches!(&part.fit, Some(Ok(taken)) if taken.operands == 0 && taken.reads.is_empty());
        self.command.joint == Joint::Pipe
            && !self.piped.to
            && !wrapped
            && FILTERS.contains(&program)
            && without_files
            && part.named == Named::Name
            && part.blocked.is_empty()
    }
}

#[derive(Clone, Copy)]
enum Access {
    Read,
    Write,
}

impl Access {
    fn effect(self, places: &Places, path: std::path::PathBuf, links: u64) -> Effect {
        match self {
            Self::Read => places.read(path),
            Self::Write => places.write(path, links),
        }
    }
}

impl Part {
    fn unknown() -> Self {
        Self {
            words: Vec::new(),
            named: Named::Other,
            class: Class::Unknown,
            form: None,
            fit: None,
            free: false,
            blocked: Vec::new(),
            strays: Vec::new(),
            effects: Vec::new(),
            redirected: Vec::new(),
            searches: false,
            reads_git: false,
            at_root: false,
        }
    }

    /// Why its words do not fit what is known about the program.
    pub(crate) fn misfit(&self) -> Option<&str> {
        match &self.fit {
            Some(Err(problem)) => Some(problem),
            _ => None,
        }
    }

    /// The program as a person calls it.
    pub(crate) fn program(&self) -> &str {
        self.words
            .first()
            .map(|word| without_version(base(word)))
            .unwrap_or_default()
    }
}

fn base(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// Whether a hook may run on that subcommand of git.
fn is_run_by(hook: &str, subcommand: &str) -> bool {
    let hooks: &[&str] = match subcommand {
        "commit" => &[
            "pre-commit",
            "prepare-commit-msg",
            "commit-msg",
            "post-commit",
            "post-rewrite",
        ],
        "merge" | "pull" => &[
            "pre-merge-commit",
            "prepare-commit-msg",
            "commit-msg",
            "post-merge",
            "post-checkout",
        ],
        "checkout" | "switch" | "clone" | "worktree" => &["post-checkout"],
        "push" => &["pre-push"],
        "status" | "diff" | "log" | "show" | "blame" | "branch" | "ls-files" | "rev-parse" | "describe"
        | "shortlog" => &["fsmonitor-watchman", "post-index-change", "reference-transaction"],
        _ => return !hook.ends_with(".sample"),
    };
    hooks.contains(&hook) || matches!(hook, "post-index-change" | "reference-transaction")
}
