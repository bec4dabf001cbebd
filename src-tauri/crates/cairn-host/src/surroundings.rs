//! What is true of machine and project, for the system prompt and the first screen. SPEC M9. Reads names and a few
//! small files; runs nothing.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cairn_agent::prompt::{Instructions, Surroundings, SurroundingsSource};
use cairn_files::{Root, read};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::git;
use crate::memory::ProjectMemory;

/// Names at the top of a project that are looked at.
const NAMES: usize = 200;
/// Bytes of an instruction file that are read.
const INSTRUCTIONS_MOST: u64 = 262_144;
/// Instruction files by preference; the first that is there counts.
const INSTRUCTION_NAMES: [&str; 3] = ["AGENTS.md", "CLAUDE.md", "THOTH.md"];

/// Where the surroundings of one project are read.
pub(crate) struct ProjectSurroundings {
    pub(crate) root: Arc<Root>,
    pub(crate) config_folder: PathBuf,
    pub(crate) shell: String,
    pub(crate) memory: Arc<ProjectMemory>,
}

impl SurroundingsSource for ProjectSurroundings {
    fn surroundings(&self) -> BoxFuture<'_, Surroundings> {
        let (root, config, shell) = (self.root.clone(), self.config_folder.clone(), self.shell.clone());
        let memory = self.memory.clone();
        let looked = move || Surroundings {
            memory: memory.told(),
            ..look(&root, &config, shell)
        };
        tokio::task::spawn_blocking(looked)
            .map(Result::unwrap_or_default)
            .boxed()
    }
}

fn look(root: &Root, config_folder: &Path, shell: String) -> Surroundings {
    let top_level = top_level(root.path());
    let stack = stack(&top_level);
    Surroundings {
        os: os(),
        shell,
        date: jiff::Zoned::now().strftime("%A, %Y-%m-%d").to_string(),
        project: root.path().to_string_lossy().into_owned(),
        git: git::state(root.path()).map(|state| match state.going_on {
            Some(doing) => format!("{}, {doing}", state.branch),
            None => state.branch,
        }),
        stack: stack.iter().map(|known| known.described()).collect(),
        instructions: instructions(root, config_folder),
        top_level,
        memory: Vec::new(),
    }
}

fn os() -> String {
    match std::env::consts::OS {
        "macos" => "macOS".to_owned(),
        "linux" => "Linux".to_owned(),
        "windows" => "Windows".to_owned(),
        other => other.to_owned(),
    }
}

/// Names at the top of a folder, folders with a slash, `.git` left out, in order.
pub(crate) fn top_level(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .filter_map(Result::ok)
        .take(NAMES * 5)
        .map(|entry| {
            let name = cairn_policy::shown_text(&cairn_policy::show_path(Path::new(&entry.file_name())));
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                format!("{name}/")
            } else {
                name
            }
        })
        .filter(|name| name != ".git/" && name != ".git")
        .collect();
    names.sort();
    names.truncate(NAMES);
    names
}

/// What a project is made of, and how it is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stack {
    pub(crate) name: &'static str,
    check: &'static str,
    file: &'static str,
}

const STACKS: [Stack; 9] = [
    Stack {
        name: "Rust",
        check: "cargo test",
        file: "Cargo.toml",
    },
    Stack {
        name: "Node",
        check: "npm test",
        file: "package.json",
    },
    Stack {
        name: "Python",
        check: "python -m pytest",
        file: "pyproject.toml",
    },
    Stack {
        name: "Go",
        check: "go test ./...",
        file: "go.mod",
    },
    Stack {
        name: "Java (Maven)",
        check: "mvn test",
        file: "pom.xml",
    },
    Stack {
        name: "Java (Gradle)",
        check: "./gradlew test",
        file: "build.gradle",
    },
    Stack {
        name: "C or C++ (CMake)",
        check: "ctest",
        file: "CMakeLists.txt",
    },
    Stack {
        name: "Make",
        check: "make test",
        file: "Makefile",
    },
    Stack {
        name: "Ruby",
        check: "bundle exec rake test",
        file: "Gemfile",
    },
];

impl Stack {
    fn described(self) -> String {
        format!("{} (usual check: `{}`)", self.name, self.check)
    }
}

/// The stacks that the names at the top show.
pub(crate) fn stack(top_level: &[String]) -> Vec<Stack> {
    STACKS
        .into_iter()
        .filter(|stack| top_level.iter().any(|name| name == stack.file))
        .collect()
}

/// Four first prompts that fit what the folder holds.
pub(crate) fn first_prompts(top_level: &[String]) -> Vec<String> {
    let name = stack(top_level).first().map(|stack| stack.name);
    let check = stack(top_level).first().map(|stack| stack.check);
    let has = |wanted: &str| top_level.iter().any(|name| name.eq_ignore_ascii_case(wanted));
    if top_level.is_empty() {
        return [
            "Start a small project here: ask me what it should do, then lay it out.",
            "Write a README for an idea I describe.",
            "Make a script that renames photos by their date.",
            "Set up a small web page with one form.",
        ]
        .map(str::to_owned)
        .into();
    }
    let mut prompts = vec!["Explain what this project does and where to start reading.".to_owned()];
    prompts.push(match check {
        Some(check) => format!("Run `{check}` and explain what fails."),
        None => "Run the checks of this project and explain what fails.".to_owned(),
    });
    prompts.push(match name {
        Some(name) => format!("Find code in this {name} project that has no test, and write one."),
        None => "Find something here that is likely to break, and show me where.".to_owned(),
    });
    prompts.push(if has("README.md") {
        "Check the README against the code and mend what is no longer true.".to_owned()
    } else {
        "Write a short README from what the code does.".to_owned()
    });
    prompts
}

/// The user's own instructions, then the project's.
fn instructions(root: &Root, config_folder: &Path) -> Vec<Instructions> {
    let global = INSTRUCTION_NAMES.iter().find_map(|name| {
        let path = config_folder.join(name);
        let small =
            std::fs::metadata(&path).is_ok_and(|kind| kind.is_file() && kind.len() <= INSTRUCTIONS_MOST);
        let text = small.then(|| std::fs::read_to_string(&path).ok()).flatten()?;
        Some(Instructions {
            path: path.display().to_string(),
            text,
        })
    });
    // A link that leads out of the project is not followed: what it names was never shown to anybody.
    let project = INSTRUCTION_NAMES.iter().find_map(|name| {
        let real = root
            .resolve(name)
            .ok()
            .filter(|found| found.real.starts_with(root.path()))?
            .real;
        // Nor one that leads to a credential file: what a file is called says nothing of what it holds. SPEC P2, T6.
        if cairn_policy::is_credential(&real) {
            return None;
        }
        let content = read::whole(root, &real, INSTRUCTIONS_MOST).ok()?;
        Some(Instructions {
            path: (*name).to_owned(),
            text: String::from_utf8_lossy(&content.bytes).into_owned(),
        })
    });
    global.into_iter().chain(project).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(files: &[(&str, &str)]) -> (tempfile::TempDir, Root) {
        let temp = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(temp.path().join(name), text).unwrap();
        }
        let root = Root::open(temp.path()).unwrap();
        (temp, root)
    }

    #[test]
    fn x140_global_first_then_the_first_file_of_the_project_that_is_there() {
        let (_temp, root) = project(&[
            ("CLAUDE.md", "be brief"),
            ("THOTH.md", "unread"),
            ("Cargo.toml", ""),
        ]);
        let config = tempfile::tempdir().unwrap();
        std::fs::write(config.path().join("AGENTS.md"), "speak plainly").unwrap();
        let seen = look(&root, config.path(), "bash".to_owned());
        let texts: Vec<_> = seen.instructions.iter().map(|file| file.text.as_str()).collect();
        assert_eq!(texts, ["speak plainly", "be brief"]);
        assert_eq!(seen.stack, ["Rust (usual check: `cargo test`)"]);
        assert_eq!(seen.top_level, ["CLAUDE.md", "Cargo.toml", "THOTH.md"]);
    }

    #[test]
    fn p2_instructions_are_never_a_credential_file_under_another_name() {
        let (temp, root) = project(&[(".env", "KEY=CANARY"), ("CLAUDE.md", "mine")]);
        std::os::unix::fs::symlink(".env", temp.path().join("AGENTS.md")).unwrap();
        let seen = look(&root, temp.path().join("none").as_path(), String::new());
        assert_eq!(
            seen.instructions
                .iter()
                .map(|file| file.text.as_str())
                .collect::<Vec<_>>(),
            ["mine"]
        );
    }

    #[test]
    fn instructions_never_come_through_a_link_that_leads_out() {
        let (_outside, outside) = project(&[("secret", "do evil")]);
        let (temp, root) = project(&[("CLAUDE.md", "mine")]);
        std::os::unix::fs::symlink(outside.path().join("secret"), temp.path().join("AGENTS.md")).unwrap();
        let seen = look(&root, temp.path().join("none").as_path(), String::new());
        assert_eq!(
            seen.instructions
                .iter()
                .map(|file| file.text.as_str())
                .collect::<Vec<_>>(),
            ["mine"]
        );
    }
}
