//! What the host asks of the store besides events: lists, search, titles, deletion, loading.

use std::sync::Arc;

use cairn_agent::store::{Durability, StoreError};
use cairn_protocol::{
    ProjectKey, SearchHit, Session, SessionId, SessionListParams, SessionListResult, UnixMillis,
};
use rusqlite::Connection;

use super::{Loaded, Store};
use crate::fault::Fault;
use crate::process::ProcessMark;
use crate::table::{
    blob_refs, changes, drafts, events, leases, messages, now, outputs, projects, sessions, texts,
};
use crate::writer::Writer;

/// Sessions in a list when nothing is said.
const LIST: u32 = 100;
/// Sessions in a list at most.
const LIST_MOST: u32 = 1_000;
/// Pages given back to the disk after a purge: 64 MB, so that it never takes long.
const GIVEN_BACK: u32 = 16_384;

impl Store {
    /// Tells that a project was opened.
    pub async fn touch_project(&self, key: &ProjectKey, path: &str) -> Result<(), StoreError> {
        let (key, path) = (key.clone(), path.to_owned());
        self.write(Durability::Committed, move |db| {
            Ok(projects::touch(db, &key, &path, now())?)
        })
        .await
    }

    /// All projects, the last used first: key, path for display, last use.
    pub async fn projects(&self) -> Result<Vec<(ProjectKey, String, UnixMillis)>, StoreError> {
        self.read(|db| Ok(projects::list(db)?)).await
    }

    /// Sessions of a project, or of all, newest first. All are reachable by `after`.
    pub async fn list(
        &self,
        project: Option<&ProjectKey>,
        params: &SessionListParams,
    ) -> Result<SessionListResult, StoreError> {
        let (project, params) = (project.cloned(), params.clone());
        self.read(move |db| {
            let filter = sessions::Filter {
                project: project.as_ref(),
                archived: params.archived,
                after: params.after.as_ref(),
                limit: if params.limit == 0 {
                    LIST
                } else {
                    params.limit.min(LIST_MOST)
                },
            };
            let (found, more) = sessions::list(db, &filter)?;
            let sessions = found
                .into_iter()
                .map(|stored| Ok(sessions::seen(db, stored)?.session))
                .collect::<Result<_, Fault>>()?;
            Ok(SessionListResult { sessions, more })
        })
        .await
    }

    /// One session; `Missing` when it is not there or deleted.
    pub async fn get(&self, session: &SessionId) -> Result<Session, StoreError> {
        let id = session.clone();
        self.read(move |db| Ok(sessions::seen(db, sessions::get(db, &id)?)?.session))
            .await
    }

    /// The first 50 hits, newest first, in a project or in all: messages of both sides and titles that hold all the
    /// words, taken literally, whatever their case and accents.
    pub async fn search(
        &self,
        project: Option<&ProjectKey>,
        text: &str,
    ) -> Result<Vec<SearchHit>, StoreError> {
        let (project, text) = (project.cloned(), text.to_owned());
        self.read(move |db| messages::search(db, project.as_ref(), &text))
            .await
    }

    /// Gives a session a title. Whoever holds the session in memory must take the title over, or its next
    /// `SessionChanged` sets the former one again. `Held` when another process writes it.
    pub async fn rename(&self, session: &SessionId, title: &str) -> Result<Session, StoreError> {
        let title = title.to_owned();
        self.change(session, move |db, id| sessions::rename(db, id, &title))
            .await
    }

    /// Hides a session from the list; search still finds it. `Held` when another process writes it.
    pub async fn archive(&self, session: &SessionId) -> Result<Session, StoreError> {
        self.change(session, |db, id| sessions::archive(db, id, true))
            .await
    }

    /// Shows an archived session in the list again. `Held` when another process writes it.
    pub async fn unarchive(&self, session: &SessionId) -> Result<Session, StoreError> {
        self.change(session, |db, id| sessions::archive(db, id, false))
            .await
    }

    /// Deletes a session. [`Store::undelete`] puts it back until this process ends; the next start then removes it and
    /// what only it needs. `Held` when another process writes it.
    pub async fn delete(&self, session: &SessionId) -> Result<(), StoreError> {
        let own = self.inner.own.clone();
        self.change(session, move |db, id| sessions::delete(db, id, &own, now()))
            .await
    }

    /// Puts a deleted session back.
    pub async fn undelete(&self, session: &SessionId) -> Result<Session, StoreError> {
        let id = session.clone();
        self.write(Durability::Synced, move |db| sessions::undelete(db, &id))
            .await
    }

    /// Keeps what was typed and not sent; an empty text forgets it.
    pub async fn set_draft(&self, session: &SessionId, text: &str) -> Result<(), StoreError> {
        let (id, text) = (session.clone(), text.to_owned());
        self.write(Durability::Committed, move |db| {
            Ok(drafts::set(db, sessions::number(db, &id)?, &text)?)
        })
        .await
    }

    /// All that is stored of a session, in one consistent view.
    pub async fn load(&self, session: &SessionId) -> Result<Loaded, StoreError> {
        let (id, own) = (session.clone(), self.inner.own.clone());
        self.read(move |db| load(db, &id, &own)).await
    }

    async fn change<T: Send + 'static>(
        &self,
        session: &SessionId,
        work: impl FnOnce(&Connection, &SessionId) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (id, own) = (session.clone(), self.inner.own.clone());
        self.write(Durability::Synced, move |db| {
            leases::refuse_others(db, sessions::number(db, &id)?, &own)?;
            work(db, &id)
        })
        .await
    }

    /// Removes what was deleted by processes that have ended, while the program goes on starting.
    pub(super) fn purge_in_background(&self) -> Result<(), StoreError> {
        let blobs = Arc::clone(&self.inner.blobs);
        self.order(Box::new(move |writer| match purge(writer) {
            Ok(orphans) => orphans.iter().for_each(|blob| blobs.remove(blob)),
            Err(error) => tracing::warn!(%error, "deleted sessions are not removed yet"),
        }))
    }
}

fn load(db: &Connection, id: &SessionId, own: &ProcessMark) -> Result<Loaded, Fault> {
    let stored = sessions::seen(db, sessions::get(db, id)?)?;
    let history = events::load(db, &stored)?;
    let holder = leases::holder(db, stored.n)?;
    Ok(Loaded {
        events: history.events,
        partial_texts: history.partial_texts,
        queue: history.queue,
        draft: drafts::get(db, stored.n)?,
        held_by: holder.filter(|(mark, _)| mark != own).map(|(_, holder)| holder),
        last_seq: stored.last_seq,
        session: stored.session,
    })
}

/// One session per transaction, so that others can write in between.
fn purge(writer: &mut Writer) -> Result<Vec<cairn_protocol::BlobId>, StoreError> {
    let doomed = writer.look(|db| Ok(sessions::purgeable(db)?))?;
    let mut orphans = Vec::new();
    for n in &doomed {
        orphans.extend(writer.commit(Durability::Committed, |db| {
            messages::purge(db, *n)?;
            texts::purge(db, *n)?;
            drafts::purge(db, *n)?;
            leases::purge(db, *n)?;
            changes::purge(db, *n)?;
            outputs::purge(db, *n)?;
            events::purge(db, *n)?;
            let orphans = blob_refs::purge(db, *n)?;
            sessions::remove(db, *n)?;
            Ok(orphans)
        })?);
    }
    if !doomed.is_empty() {
        writer.commit(Durability::Committed, |db| Ok(messages::tidy(db)?))?;
        writer.give_back(GIVEN_BACK);
    }
    Ok(orphans)
}
