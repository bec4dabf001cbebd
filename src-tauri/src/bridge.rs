//! The two commands a page may call. Which project a window belongs to is what this table says, never an argument.

#![allow(
    clippy::let_underscore_must_use,
    reason = "the command macro writes such lines"
)]

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use cairn_host::{Host, Window};
use cairn_protocol::{ApiError, Envelope, ErrorCode, Event, EventBody, Notice, NoticeLevel, WIRE_VERSION};
use serde_json::Value;
use tauri::ipc::Channel;
use tauri::{AppHandle, Manager, WebviewWindow};

use crate::start;
use crate::window::PROBLEM;

/// The open windows by their label.
pub(crate) struct Windows {
    host: Arc<Host>,
    open: Mutex<HashMap<String, Entry>>,
}

struct Entry {
    window: Arc<Window>,
    channel: Option<Channel<Event>>,
}

impl Windows {
    pub(crate) fn new(host: Arc<Host>) -> Self {
        Self {
            host,
            open: Mutex::default(),
        }
    }

    pub(crate) fn host(&self) -> &Arc<Host> {
        &self.host
    }

    pub(crate) fn add(&self, label: &str, window: Window) {
        self.lock().insert(
            label.to_owned(),
            Entry {
                window: Arc::new(window),
                channel: None,
            },
        );
    }

    /// A window is gone: what its sessions did ends, and others may open them.
    pub(crate) fn remove(&self, label: &str) {
        let gone = self.lock().remove(label);
        if let Some(entry) = gone {
            tauri::async_runtime::spawn(async move { entry.window.end_sessions().await });
        }
    }

    /// Whether the window's page hears events.
    pub(crate) fn is_listened(&self, label: &str) -> bool {
        self.lock()
            .get(label)
            .is_some_and(|entry| entry.channel.is_some())
    }

    /// The window behind a label; only labels that this program made are known.
    pub(crate) fn get(&self, label: &str) -> Result<Arc<Window>, ApiError> {
        let known = self.lock().get(label).map(|entry| entry.window.clone());
        known.ok_or_else(|| ApiError::new(ErrorCode::NotOwner, "This window belongs to no project."))
    }

    fn listen(&self, label: &str, channel: Channel<Event>) -> Result<(), ApiError> {
        let window = self.get(label)?;
        let mut subscription = window.resubscribe();
        if let Some(entry) = self.lock().get_mut(label) {
            entry.channel = Some(channel.clone());
        }
        tauri::async_runtime::spawn(async move {
            while let Some(event) = subscription.events.recv().await {
                if let Err(error) = channel.send((*event).clone()) {
                    tracing::debug!(%error, "a page is gone");
                    return;
                }
            }
        });
        Ok(())
    }

    /// Says something in every window.
    pub(crate) fn notice_everywhere(&self, _app: &AppHandle, text: &str) {
        let notice = Notice {
            level: NoticeLevel::Error,
            code: "start".to_owned(),
            text: text.to_owned(),
        };
        let body = EventBody::Notice { notice };
        let event = Event {
            v: WIRE_VERSION,
            seq: 0,
            session: "".into(),
            at: 0,
            body,
        };
        for entry in self.lock().values() {
            if let Some(channel) = &entry.channel
                && let Err(error) = channel.send(event.clone())
            {
                tracing::debug!(%error, "a page is gone");
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Entry>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Carries a request of a page to the host.
#[tauri::command]
pub(crate) async fn request(
    app: AppHandle,
    window: WebviewWindow,
    envelope: Envelope,
) -> Result<Value, ApiError> {
    if window.label() == PROBLEM {
        // Whatever it asks: nothing is there yet. Trying again is all that helps.
        return Err(start::again(&app).await);
    }
    app.state::<Windows>()
        .get(window.label())?
        .request(envelope)
        .await
}

/// Sends every event of the window's project to its page from now on. A page that was loaded again calls it again.
#[tauri::command]
pub(crate) async fn subscribe(
    app: AppHandle,
    window: WebviewWindow,
    channel: Channel<Event>,
) -> Result<(), ApiError> {
    if window.label() == PROBLEM {
        return Ok(());
    }
    app.state::<Windows>().listen(window.label(), channel)
}
