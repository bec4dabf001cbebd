//! `cairn sessions`.

use std::sync::Arc;

use cairn_host::Host;
use cairn_protocol::{ApiError, Item, ItemBody, Session, SessionId, SessionListParams};

use crate::args::{Sessions, SessionsAction};
use crate::{DONE, out};

pub(crate) async fn run(host: &Arc<Host>, sessions: Sessions) -> Result<u8, ApiError> {
    match sessions.action {
        SessionsAction::List { project } => list(host, project.as_deref()).await?,
        SessionsAction::Show { id } => show(host, &id.as_str().into()).await?,
        SessionsAction::Search { text } => search(host, &text).await?,
        SessionsAction::Delete { id } => {
            host.delete_session(&id.as_str().into()).await?;
            out::line("Deleted.");
        }
    }
    Ok(DONE)
}

async fn list(host: &Arc<Host>, folder: Option<&std::path::Path>) -> Result<(), ApiError> {
    let project = match folder {
        Some(folder) => Some(host.project(Some(folder)).await?),
        None => None,
    };
    let key = project.as_ref().map(|project| &project.key);
    let mut params = SessionListParams {
        archived: true,
        ..SessionListParams::default()
    };
    loop {
        let listed = host.list_sessions(key, &params).await?;
        listed
            .sessions
            .iter()
            .for_each(|session| out::line(&row(session)));
        params.after = listed.sessions.last().map(|session| session.id.clone());
        if !listed.more || params.after.is_none() {
            return Ok(());
        }
    }
}

fn row(session: &Session) -> String {
    let title = if session.title.is_empty() {
        "(empty)"
    } else {
        &session.title
    };
    let changes = match session.changes.files {
        0 => "no changes".to_owned(),
        _ => format!("+{} −{}", session.changes.added, session.changes.removed),
    };
    let state = format!("{:?}", session.state).to_lowercase();
    format!(
        "{}  {}  {state} · {changes}  {}",
        session.id,
        out::safe(title),
        out::safe(&session.project_path)
    )
}

async fn show(host: &Arc<Host>, id: &SessionId) -> Result<(), ApiError> {
    let snapshot = host.read_session(id).await?;
    out::line(&row(&snapshot.session));
    for item in &snapshot.items {
        if let Some(text) = words(item) {
            out::line("");
            out::line(&out::safe(&text));
        }
    }
    Ok(())
}

fn words(item: &Item) -> Option<String> {
    match &item.body {
        ItemBody::User { text, .. } => Some(format!("> {}", text.replace('\n', "\n> "))),
        ItemBody::Assistant { text } if !text.is_empty() => Some(text.clone()),
        ItemBody::Tool(tool) => {
            let state = format!("{:?}", item.state).to_lowercase();
            let note = if tool.note.is_empty() {
                String::new()
            } else {
                format!(" · {}", tool.note)
            };
            Some(format!("[{} {}] {state}{note}", tool.title, tool.target))
        }
        ItemBody::Notice(notice) => Some(format!("[{}]", notice.text)),
        ItemBody::Summary(summary) => Some(format!("[Summary of what was above]\n{}", summary.text)),
        ItemBody::Unknown { name, .. } => Some(format!("[{name}: written by a newer Cairn]")),
        _ => None,
    }
}

async fn search(host: &Arc<Host>, text: &str) -> Result<(), ApiError> {
    let hits = host.search_sessions(text).await?;
    if hits.is_empty() {
        out::note("No session holds all of these words.");
    }
    for hit in hits {
        out::line(&row(&hit.session));
        let excerpt = hit.excerpt.replace(['\u{2}', '\u{3}'], "").replace('\n', " ");
        out::line(&format!("    {}", out::safe(&excerpt)));
    }
    Ok(())
}
