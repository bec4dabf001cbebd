//! Whether the person trusts a folder with what its own files propose. SPEC A6, P8, P11.
//!
//! Owns: the record of trust, and what has changed since. Must never know: what a trusted folder may do.
//!
//! Trust is for one folder by its real path, as it lies on the disk, with the repository behind it and with exactly
//! what was listed. A parent's trust says nothing about it (case T08), a folder or repository that takes its place is
//! another one (T09, T10, G11), and whatever else the list says tomorrow asks again (T02). Whatever cannot be read is
//! not trusted. The record lies beside the project's rules, outside of the folder; a worktree that Cairn makes for a
//! project has that project's key, and so its record.

use std::path::PathBuf;

use cairn_protocol::{ApiError, ErrorCode, Proposal, ProposalChange, TrustState, TrustView, UnixMillis};
use cairn_tools::place::RepositoryTrust;
use serde::{Deserialize, Serialize};

use crate::files;
use crate::host::Host;
use crate::project::Project;

mod identity;
mod listed;

use identity::Identity;
pub(crate) use listed::Listed;

/// A record larger than this is none of ours.
const MOST: u64 = 4_194_304;

/// What the person trusted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Record {
    /// When.
    at: UnixMillis,
    /// The folder and its repository, as they lay on the disk.
    identity: Identity,
    /// What was listed.
    #[serde(default)]
    entry: Vec<Entry>,
}

/// One thing that is listed, with what it is made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entry {
    #[serde(flatten)]
    proposal: Proposal,
    /// Hex SHA-256 of a file that is listed by its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mark: Option<String>,
}

impl Entry {
    fn is_same_thing(&self, other: &Self) -> bool {
        let name = |entry: &Self| {
            let proposal = &entry.proposal;
            (proposal.kind, proposal.file.clone(), proposal.name.clone())
        };
        // What has no name is what it says.
        let text = |entry: &Self| {
            entry
                .proposal
                .name
                .is_empty()
                .then(|| entry.proposal.text.clone())
        };
        name(self) == name(other) && text(self) == text(other)
    }
}

/// A folder's proposals and its record, read at one moment.
#[derive(Debug)]
pub(crate) struct Looked {
    listed: Listed,
    identity: Option<Identity>,
    record: Option<Record>,
}

impl Looked {
    pub(crate) fn state(&self) -> TrustState {
        let Some(record) = &self.record else {
            return TrustState::New;
        };
        let at = record.at;
        match &self.identity {
            Some(identity) if !record.identity.is_same(identity) => TrustState::Replaced { at },
            Some(_) if self.listed.problem.is_none() && record.entry == self.listed.entries => {
                TrustState::Trusted { at }
            }
            _ => TrustState::Changed { at },
        }
    }

    /// Since when the folder is trusted as it is now.
    pub(crate) fn trusted_since(&self) -> Option<UnixMillis> {
        match self.state() {
            TrustState::Trusted { at } => Some(at),
            _ => None,
        }
    }

    pub(crate) fn listed(&self) -> &Listed {
        &self.listed
    }

    fn view(&self) -> TrustView {
        let state = self.state();
        let trusted = matches!(state, TrustState::Trusted { .. });
        let is_something = !self.listed.entries.is_empty() || self.listed.problem.is_some();
        TrustView {
            state,
            proposals: self.listed.proposals(),
            changes: self.changes(),
            problem: self.listed.problem.clone(),
            asks: !trusted && (is_something || state != TrustState::New),
            digest: self.digest(),
        }
    }

    fn changes(&self) -> Vec<ProposalChange> {
        let (Some(record), TrustState::Changed { .. }) = (&self.record, self.state()) else {
            return Vec::new();
        };
        let mut changes = Vec::new();
        for now in &self.listed.entries {
            let before = record.entry.iter().find(|entry| entry.is_same_thing(now));
            if before != Some(now) {
                changes.push(ProposalChange {
                    before: before.map(|entry| entry.proposal.clone()),
                    after: Some(now.proposal.clone()),
                });
            }
        }
        let is_gone = |entry: &&Entry| !self.listed.entries.iter().any(|now| now.is_same_thing(entry));
        changes.extend(record.entry.iter().filter(is_gone).map(|entry| ProposalChange {
            before: Some(entry.proposal.clone()),
            after: None,
        }));
        changes
    }

    /// Over all that trusting would cover.
    fn digest(&self) -> String {
        let all = (&self.listed.entries, &self.identity, &self.listed.problem);
        // What cannot be written down cannot be repeated either.
        let text = serde_json::to_vec(&all).unwrap_or_default();
        cairn_files::hash::of_bytes(&text)
    }
}

impl Host {
    pub(crate) fn look_at_trust(&self, project: &Project) -> Looked {
        Looked {
            listed: Listed::of(project),
            identity: Identity::of(project.path()),
            record: self.trust_record(project),
        }
    }

    /// What the folder proposes, and whether it is in force.
    pub fn trust_view(&self, project: &Project) -> TrustView {
        self.look_at_trust(project).view()
    }

    /// Whether the person trusts the folder as it is now: with what it proposes, no more.
    pub fn is_trusted(&self, project: &Project) -> bool {
        self.look_at_trust(project).trusted_since().is_some()
    }

    /// What git may do by itself in the project's repository.
    pub(crate) fn repository_trust(&self, project: &Project) -> RepositoryTrust {
        let looked = self.look_at_trust(project);
        match looked.trusted_since() {
            Some(_) => RepositoryTrust::Trusted {
                accepted: looked.listed.git_lines(),
            },
            None => RepositoryTrust::Untrusted,
        }
    }

    /// Trusts the folder with what was shown: `digest` is that of the view that the person read.
    ///
    /// Fails with `stale` when the list is another one by now, and with `bad_config` where something cannot be read.
    pub async fn trust(&self, project: &Project, digest: &str) -> Result<TrustView, ApiError> {
        let looked = self.look_at_trust(project);
        if let Some(problem) = &looked.listed.problem {
            let text = format!("{problem} Mend or remove it; then the folder can be trusted.");
            return Err(ApiError::new(ErrorCode::BadConfig, text));
        }
        if looked.digest() != digest {
            let text = "What this folder proposes has changed meanwhile. Look at the list again.";
            return Err(ApiError::new(ErrorCode::Stale, text));
        }
        let Some(identity) = looked.identity else {
            let text = format!("{} is not there any more.", project.shown());
            return Err(ApiError::new(ErrorCode::BadFolder, text));
        };
        let record = Record {
            at: self.world().now(),
            identity,
            entry: looked.listed.entries,
        };
        let text = toml_edit::ser::to_string_pretty(&record)
            .map_err(|error| ApiError::new(ErrorCode::Internal, error.to_string()))?;
        files::write_private(&self.trust_file(project), &text)?;
        self.rules_changed(project).await;
        Ok(self.trust_view(project))
    }

    /// Trusts the folder no longer. From the next call on nothing of its own holds.
    pub async fn withdraw_trust(&self, project: &Project) -> Result<TrustView, ApiError> {
        let file = self.trust_file(project);
        match std::fs::remove_file(&file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(files::failed("remove", &file, &error));
            }
            _ => {}
        }
        self.rules_changed(project).await;
        Ok(self.trust_view(project))
    }

    /// A record that cannot be read is none.
    fn trust_record(&self, project: &Project) -> Option<Record> {
        let text = files::read_small(&self.trust_file(project), MOST).ok()??;
        toml_edit::de::from_str(&text)
            .inspect_err(|error| tracing::warn!(%error, "the record of trust cannot be read; the folder counts as new"))
            .ok()
    }

    pub(crate) fn trust_file(&self, project: &Project) -> PathBuf {
        self.home().project(&project.key).join("trust.toml")
    }
}

#[cfg(test)]
#[path = "trust/tests.rs"]
mod tests;
