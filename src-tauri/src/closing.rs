//! Closing a window whose sessions work: the person says whether the work stops or goes on out of sight. SPEC P4.

use cairn_host::{Desk, Needed};
use cairn_protocol::CloseWork;
use tauri::{AppHandle, CloseRequestApi, Manager};

use crate::bridge::Windows;
use crate::links;

/// What the core can ask of one window's surroundings.
pub(crate) struct OwnDesk {
    pub(crate) app: AppHandle,
    pub(crate) label: String,
}

impl Desk for OwnDesk {
    fn open_link(&self, href: &str) -> Result<(), String> {
        links::open(&self.app, href)
    }

    fn close(&self, work: CloseWork) {
        let (app, label) = (self.app.clone(), self.label.clone());
        match work {
            CloseWork::Stop => destroy(&app, &label),
            CloseWork::Keep => {
                tauri::async_runtime::spawn(async move { keep_working(&app, &label).await });
            }
        }
    }
}

/// The person wants to close a window: it closes at once when nothing works, else its page asks.
pub(crate) fn requested(app: &AppHandle, label: &str, api: &CloseRequestApi) {
    let windows = app.state::<Windows>();
    let Ok(window) = windows.get(label) else { return };
    if !windows.is_listened(label) {
        // A page that is not there cannot ask.
        return;
    }
    api.prevent_close();
    let (app, label) = (app.clone(), label.to_owned());
    tauri::async_runtime::spawn(async move {
        match window.working().await {
            0 => destroy(&app, &label),
            working => window.ask_to_close(working),
        }
    });
}

/// Out of sight until somebody is needed: the person, or nobody any more.
async fn keep_working(app: &AppHandle, label: &str) {
    let (Some(shown), Ok(window)) = (app.get_webview_window(label), app.state::<Windows>().get(label)) else {
        return;
    };
    if let Err(error) = shown.hide() {
        tracing::warn!(%error, "a window could not be hidden and stays");
        return;
    }
    let needed = window.until_needed().await;
    // A second start may have brought it back meanwhile: then it is the person's again.
    if shown.is_visible().unwrap_or(true) {
        return;
    }
    match needed {
        Needed::Nobody => destroy(app, label),
        Needed::Person => {
            let back = shown.show().and_then(|()| shown.set_focus());
            if let Err(error) = back {
                tracing::warn!(%error, "a window whose session waits could not be shown again");
            }
        }
    }
}

fn destroy(app: &AppHandle, label: &str) {
    if let Some(window) = app.get_webview_window(label)
        && let Err(error) = window.destroy()
    {
        tracing::warn!(%error, "a window did not close");
    }
}
