//! After a crash: what came of file changes that a program had begun, and their temporary files. SPEC A5, R1, S2.
//!
//! Joins what the store journaled with what lies on the disk; the judgement is `cairn-files`'.

use cairn_agent::driver::storage_error;
use cairn_files::swap::{self, Recovered, Unfinished};
use cairn_protocol::{ApiError, Notice, NoticeLevel};
use cairn_store::{ChangeFate, Leftover};

use crate::host::Host;

impl Host {
    /// Finds out what came of file changes whose program ended in between, and which processes it left running. Says,
    /// one notice each, which temporary files were left because they may be somebody's only copy.
    pub async fn sweep(&self) -> Vec<Notice> {
        let mut notices = self.try_sweep().await.unwrap_or_else(|error| {
            tracing::warn!(%error, "temporary files of an earlier run were not looked for");
            Vec::new()
        });
        notices.extend(self.leftovers_notice().await);
        notices
    }

    async fn try_sweep(&self) -> Result<Vec<Notice>, ApiError> {
        let leftovers = self
            .store()
            .leftovers()
            .await
            .map_err(|error| storage_error(&error))?;
        if leftovers.is_empty() {
            return Ok(Vec::new());
        }
        let judged = tokio::task::spawn_blocking(move || judge(&leftovers));
        let (fates, notices) = judged
            .await
            .map_err(|error| ApiError::new(cairn_protocol::ErrorCode::Internal, error.to_string()))?;
        self.store()
            .resolve(fates)
            .await
            .map_err(|error| storage_error(&error))?;
        Ok(notices)
    }

    /// The same, said in every window that is open by then.
    pub async fn sweep_aloud(&self) {
        for notice in self.sweep().await {
            self.notice_everywhere(&notice);
        }
    }
}

fn judge(leftovers: &[Leftover]) -> (Vec<(i64, ChangeFate)>, Vec<Notice>) {
    let mut fates = Vec::with_capacity(leftovers.len());
    let mut notices = Vec::new();
    for leftover in leftovers {
        let change = Unfinished {
            path: &leftover.path,
            temporary: leftover.temporary.as_deref(),
            before: leftover.before.as_deref(),
            after: leftover.after.as_deref(),
        };
        match swap::recover(&change) {
            Ok(swept) => {
                tracing::info!(path = %leftover.path.display(), ?swept, "a change was cut off by the end of its program");
                if let (Some(why), Some(temporary)) = (swept.kept, &leftover.temporary) {
                    notices.push(kept(temporary, why));
                }
                fates.push((leftover.n, fate(swept.found)));
            }
            // Looked at again at the next start: what cannot be read now may be readable then.
            Err(error) => {
                tracing::warn!(%error, path = %leftover.path.display(), "a change that was cut off could not be judged");
            }
        }
    }
    (fates, notices)
}

fn fate(found: Recovered) -> ChangeFate {
    match found {
        Recovered::Happened => ChangeFate::Happened,
        Recovered::NotHappened => ChangeFate::Dropped,
        Recovered::Changed => ChangeFate::Unclear,
    }
}

fn kept(temporary: &std::path::Path, why: &str) -> Notice {
    let text = format!(
        "{} was left by a write that was cut off: {why}. Look at it, then delete it.",
        temporary.display()
    );
    Notice {
        level: NoticeLevel::Warning,
        code: "temporary_kept".to_owned(),
        text,
    }
}
