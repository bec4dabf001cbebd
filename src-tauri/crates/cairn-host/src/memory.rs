//! The project's memory: facts that are told to the model in every session. SPEC T26.
//!
//! Owns: `projects/KEY/memory.toml`, and the shared list `.cairn/memory.md` that the user may make of it.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use cairn_files::swap::{Expected, Swap};
use cairn_protocol::{ApiError, ErrorCode, Fact, UnixMillis};
use cairn_tools::remember::Memory;
use serde::{Deserialize, Serialize};

use crate::files;
use crate::host::Host;
use crate::project::Project;

/// Most facts that are kept; the oldest goes when another comes would lose what somebody kept, so it is refused.
const MOST: usize = 200;
/// Longest fact, characters.
const LONGEST: usize = 500;
/// Characters of facts that a prompt gets, newest first.
const TOLD: usize = 3_000;
/// Where the shared list lies in a project.
const SHARED: &str = ".cairn/memory.md";
/// A shared list larger than this is not read.
const SHARED_MOST: u64 = 65_536;

#[derive(Default, Serialize, Deserialize)]
struct Kept {
    #[serde(default)]
    fact: Vec<Entry>,
}

#[derive(Clone, Serialize, Deserialize)]
struct Entry {
    text: String,
    at: UnixMillis,
}

/// The memory of one project. Its file is read anew each time: another window or a person may have changed it.
pub(crate) struct ProjectMemory {
    path: PathBuf,
    project: Arc<Project>,
    now: Box<dyn Fn() -> UnixMillis + Send + Sync>,
    changing: Mutex<()>,
}

impl ProjectMemory {
    pub(crate) fn new(host: &Host, project: &Arc<Project>) -> Self {
        let world = host.world().clone();
        Self {
            path: host.home().project(&project.key).join("memory.toml"),
            project: project.clone(),
            now: Box::new(move || world.now()),
            changing: Mutex::default(),
        }
    }

    /// All facts, newest first, the shared ones after the private ones.
    pub(crate) fn list(&self) -> Result<Vec<Fact>, ApiError> {
        let mut facts: Vec<Fact> = self
            .read()?
            .fact
            .into_iter()
            .rev()
            .map(|entry| Fact {
                text: entry.text,
                at: Some(entry.at),
                shared: false,
            })
            .collect();
        let shared = self.shared().into_iter().rev().map(|text| Fact {
            text,
            at: None,
            shared: true,
        });
        facts.extend(shared);
        Ok(facts)
    }

    /// What a prompt is told: newest first, within its limit. A file that cannot be read tells nothing.
    pub(crate) fn told(&self) -> Vec<String> {
        let mut left = TOLD;
        let facts = self.list().unwrap_or_default().into_iter();
        facts
            .map(|fact| fact.text)
            .take_while(|text| {
                let length = text.chars().count();
                let fits = length <= left;
                left = left.saturating_sub(length);
                fits
            })
            .collect()
    }

    /// Keeps a fact; one that is there already only becomes the newest.
    pub(crate) fn add(&self, text: &str) -> Result<(), ApiError> {
        let text = checked(text)?;
        self.change(|kept, now| {
            kept.fact.retain(|entry| entry.text != text);
            if kept.fact.len() >= MOST {
                return Err(bad(&format!(
                    "The project's memory holds {MOST} facts already. Delete some in Settings first."
                )));
            }
            kept.fact.push(Entry { text, at: now });
            Ok(())
        })
    }

    /// Puts another text in place of a fact.
    pub(crate) fn edit(&self, old: &str, new: &str) -> Result<(), ApiError> {
        let new = checked(new)?;
        self.change(|kept, _| {
            let entry = kept.fact.iter_mut().find(|entry| entry.text == old);
            entry.map(|entry| entry.text = new).ok_or_else(gone)
        })
    }

    /// Forgets a fact.
    pub(crate) fn forget(&self, text: &str) -> Result<(), ApiError> {
        self.change(|kept, _| {
            let before = kept.fact.len();
            kept.fact.retain(|entry| entry.text != text);
            if kept.fact.len() == before {
                Err(gone())
            } else {
                Ok(())
            }
        })
    }

    /// Moves a fact into the project's own list, for everybody who works on it.
    pub(crate) fn share(&self, text: &str) -> Result<(), ApiError> {
        if !self.read()?.fact.iter().any(|entry| entry.text == text) {
            return Err(gone());
        }
        let found = self
            .project
            .root
            .resolve(SHARED)
            .map_err(|error| bad(&error.to_string()))?;
        if !found.real.starts_with(self.project.path()) {
            return Err(bad(&format!(
                "{SHARED} leads out of the project; nothing was shared."
            )));
        }
        let before = match cairn_files::read::whole(&self.project.root, &found.real, SHARED_MOST) {
            Ok(content) => Some(content),
            Err(cairn_files::FileError::Missing(_)) => None,
            Err(error) => return Err(bad(&error.to_string())),
        };
        // Bytes and not text: what somebody wrote there in another encoding stays as it is.
        let mut list = before.as_ref().map_or_else(
            || b"# What to know about this project\n\n".to_vec(),
            |content| content.bytes.clone(),
        );
        if !list.is_empty() && !list.ends_with(b"\n") {
            list.push(b'\n');
        }
        list.extend_from_slice(format!("- {text}\n").as_bytes());
        let expected = before.map_or(Expected::Absent, |content| Expected::Content(content.hash));
        Swap::new(&self.project.root, &found.real, expected)
            .and_then(|swap| swap.write(&self.project.root, &list))
            .map_err(|error| bad(&error.to_string()))?;
        self.forget(text)
    }

    /// The bullets of the shared list. A repository wrote it: it is told as facts, like its other documents.
    fn shared(&self) -> Vec<String> {
        let Ok(found) = self.project.root.resolve(SHARED) else {
            return Vec::new();
        };
        if !found.real.starts_with(self.project.path()) {
            return Vec::new();
        }
        let content = cairn_files::read::whole(&self.project.root, &found.real, SHARED_MOST);
        let text = content
            .map(|content| String::from_utf8_lossy(&content.bytes).into_owned())
            .unwrap_or_default();
        text.lines()
            .filter_map(|line| line.trim().strip_prefix("- "))
            .map(|fact| fact.chars().filter(|c| !c.is_control()).take(LONGEST).collect())
            .filter(|fact: &String| !fact.trim().is_empty())
            .take(MOST)
            .collect()
    }

    fn read(&self) -> Result<Kept, ApiError> {
        match std::fs::read_to_string(&self.path) {
            Ok(text) => toml_edit::de::from_str(&text).map_err(|error| {
                let text = format!(
                    "{}: {}. The file is not overwritten; mend or delete it.",
                    self.path.display(),
                    error.message()
                );
                ApiError::new(ErrorCode::BadConfig, text)
            }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Kept::default()),
            Err(error) => Err(ApiError::new(
                ErrorCode::Storage,
                format!("{}: {}", self.path.display(), files::plain(&error)),
            )),
        }
    }

    fn change(
        &self,
        change: impl FnOnce(&mut Kept, UnixMillis) -> Result<(), ApiError>,
    ) -> Result<(), ApiError> {
        let _one_at_a_time = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut kept = self.read()?;
        change(&mut kept, (self.now)())?;
        let text = toml_edit::ser::to_string_pretty(&kept)
            .map_err(|error| ApiError::new(ErrorCode::Internal, error.to_string()))?;
        files::write_private(&self.path, &text)
    }
}

impl Memory for ProjectMemory {
    fn keep(&self, fact: &str) -> Result<(), String> {
        self.add(fact).map_err(|error| error.message)
    }
}

fn checked(text: &str) -> Result<String, ApiError> {
    let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let length = text.chars().count();
    if text.is_empty() || length > LONGEST {
        return Err(bad(&format!(
            "A fact has 1 to {LONGEST} characters; this one has {length}."
        )));
    }
    Ok(text)
}

fn bad(text: &str) -> ApiError {
    ApiError::new(ErrorCode::BadRequest, text)
}

fn gone() -> ApiError {
    ApiError::new(ErrorCode::NotFound, "That fact is not there any more.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::Demo;

    fn memory(folder: &std::path::Path, data: &std::path::Path) -> ProjectMemory {
        let clock = std::sync::atomic::AtomicI64::new(1);
        ProjectMemory {
            path: data.join("projects/k/memory.toml"),
            project: Arc::new(Project::open(folder, None, Demo::No).unwrap()),
            now: Box::new(move || clock.fetch_add(1, std::sync::atomic::Ordering::SeqCst)),
            changing: Mutex::default(),
        }
    }

    fn texts(memory: &ProjectMemory) -> Vec<String> {
        memory.list().unwrap().into_iter().map(|fact| fact.text).collect()
    }

    #[test]
    fn t26_facts_are_kept_newest_first_edited_and_forgotten() {
        let (folder, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let kept = memory(folder.path(), data.path());
        for fact in ["one", "two\n lines", "one"] {
            kept.add(fact).unwrap();
        }
        assert_eq!(texts(&kept), ["one", "two lines"]);
        kept.edit("two lines", "three").unwrap();
        kept.forget("one").unwrap();
        assert_eq!(texts(&memory(folder.path(), data.path())), ["three"]);
        assert_eq!(kept.forget("one").unwrap_err().code, ErrorCode::NotFound);
        assert_eq!(
            kept.add(&"x".repeat(501)).unwrap_err().code,
            ErrorCode::BadRequest
        );
        assert!(
            !folder.path().join(".cairn").exists(),
            "nothing is written inside the project"
        );
    }

    #[test]
    fn t26_a_prompt_gets_the_newest_within_its_limit() {
        let (folder, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let kept = memory(folder.path(), data.path());
        for n in 0..10 {
            kept.add(&format!("{n} {}", "x".repeat(480))).unwrap();
        }
        let told = kept.told();
        assert_eq!(told.len(), 6);
        assert!(told[0].starts_with("9 ") && told[5].starts_with("4 "));
    }

    #[test]
    fn t26_sharing_moves_a_fact_into_the_projects_own_list() {
        let (folder, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let kept = memory(folder.path(), data.path());
        kept.add("Use just.").unwrap();
        kept.add("Mind the gap.").unwrap();
        kept.share("Use just.").unwrap();
        kept.share("Mind the gap.").unwrap();
        let list = std::fs::read_to_string(folder.path().join(SHARED)).unwrap();
        assert_eq!(
            list,
            "# What to know about this project\n\n- Use just.\n- Mind the gap.\n"
        );
        assert_eq!(texts(&kept), ["Mind the gap.", "Use just."]);
        assert!(kept.list().unwrap().iter().all(|fact| fact.shared));
    }

    #[test]
    fn t26_sharing_leaves_every_byte_that_was_there() {
        let (folder, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let kept = memory(folder.path(), data.path());
        std::fs::create_dir(folder.path().join(".cairn")).unwrap();
        std::fs::write(folder.path().join(SHARED), b"- caf\xe9").unwrap();
        kept.add("Use just.").unwrap();
        kept.share("Use just.").unwrap();
        let list = std::fs::read(folder.path().join(SHARED)).unwrap();
        assert_eq!(list, b"- caf\xe9\n- Use just.\n");
    }

    #[test]
    fn a_broken_file_is_said_told_as_nothing_and_not_overwritten() {
        let (folder, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let kept = memory(folder.path(), data.path());
        kept.add("one").unwrap();
        std::fs::write(&kept.path, "[[fact").unwrap();
        assert_eq!(kept.add("two").unwrap_err().code, ErrorCode::BadConfig);
        assert!(kept.told().is_empty());
        assert_eq!(std::fs::read_to_string(&kept.path).unwrap(), "[[fact");
    }

    #[test]
    fn a_shared_list_that_leads_out_of_the_project_is_neither_read_nor_written() {
        let (folder, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let away = data.path().join("away.md");
        std::fs::write(&away, "- secret\n").unwrap();
        std::fs::create_dir(folder.path().join(".cairn")).unwrap();
        std::os::unix::fs::symlink(&away, folder.path().join(SHARED)).unwrap();
        let kept = memory(folder.path(), data.path());
        kept.add("one").unwrap();
        assert_eq!(texts(&kept), ["one"]);
        assert!(kept.share("one").is_err());
        assert_eq!(std::fs::read_to_string(&away).unwrap(), "- secret\n");
    }
}
