//! A project in a temporary folder, gone when dropped. Knows nothing of what is done with it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use tempfile::TempDir;

/// A folder with files in it.
#[derive(Debug)]
pub struct TempProject {
    _folder: TempDir,
    root: PathBuf,
}

impl TempProject {
    /// Makes a project from pairs of path and content; folders are made as needed.
    pub fn new<P: AsRef<str>, C: AsRef<[u8]>>(
        files: impl IntoIterator<Item = (P, C)>,
    ) -> anyhow::Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix("project-")
            .tempdir()
            .context("a temporary folder")?;
        // The real path: what the product compares against has all links resolved.
        let root = folder.path().canonicalize()?;
        let project = Self {
            _folder: folder,
            root,
        };
        for (path, content) in files {
            project.write(path.as_ref(), content)?;
        }
        Ok(project)
    }

    /// An empty project.
    pub fn empty() -> anyhow::Result<Self> {
        Self::new::<&str, &str>([])
    }

    /// Its real path.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The path of a file in it.
    pub fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// Writes a file as somebody else would.
    pub fn write(&self, relative: &str, content: impl AsRef<[u8]>) -> anyhow::Result<()> {
        let path = self.path(relative);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&path, content).with_context(|| format!("writing {relative}"))
    }

    /// The bytes of a file.
    pub fn read(&self, relative: &str) -> anyhow::Result<Vec<u8>> {
        fs::read(self.path(relative)).with_context(|| format!("reading {relative}"))
    }

    /// The text of a file.
    pub fn text(&self, relative: &str) -> anyhow::Result<String> {
        String::from_utf8(self.read(relative)?).context("not UTF-8")
    }

    /// Paths of all files, sorted, with `/`; links are not followed.
    pub fn files(&self) -> anyhow::Result<Vec<String>> {
        let mut found = Vec::new();
        let mut folders = vec![self.root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder)? {
                let entry = entry?;
                if entry.file_type()?.is_dir() {
                    folders.push(entry.path());
                } else {
                    let path = entry.path();
                    found.push(
                        path.strip_prefix(&self.root)?
                            .to_string_lossy()
                            .replace('\\', "/"),
                    );
                }
            }
        }
        found.sort();
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::TempProject;

    #[test]
    fn holds_what_it_was_given_and_vanishes() {
        let project = TempProject::new([("src/a.rs", "fn a() {}\n"), ("b.txt", "b")]).unwrap();
        assert_eq!(project.files().unwrap(), ["b.txt", "src/a.rs"]);
        assert_eq!(project.text("src/a.rs").unwrap(), "fn a() {}\n");
        assert_eq!(project.root(), project.root().canonicalize().unwrap());
        let root = project.root().to_owned();
        drop(project);
        assert!(!root.exists());
    }
}
