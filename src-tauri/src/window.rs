//! A project's window: made once, focused when asked for again, closed to navigation.

use std::sync::Arc;

use cairn_host::{Project, Window};
use cairn_protocol::ProjectKey;
use tauri::webview::NewWindowResponse;
use tauri::{AppHandle, Manager, Url, WebviewUrl, WebviewWindow, WebviewWindowBuilder, WindowEvent};

use crate::bridge::Windows;
use crate::closing::{self, OwnDesk};
use crate::{platform, start};

/// First size and least size, logical pixels.
const SIZE: (f64, f64) = (1_280.0, 860.0);
const LEAST: (f64, f64) = (700.0, 480.0);

/// Label of the window that stands there when nothing could be started.
pub(crate) const PROBLEM: &str = "problem";

/// Opens a window on a project, or brings the one that is there to the front.
pub(crate) fn open(app: &AppHandle, project: Arc<Project>) -> tauri::Result<()> {
    let label = label(&project.key);
    if let Some(known) = app.get_webview_window(&label) {
        known.unminimize()?;
        known.show()?;
        return known.set_focus();
    }
    let windows = app.state::<Windows>();
    let desk = OwnDesk {
        app: app.clone(),
        label: label.clone(),
    };
    let (window, first) = Window::new(windows.host().clone(), project.clone(), desk);
    // The page subscribes itself once it is there; nothing happened before.
    drop(first);
    windows.add(&label, window);
    let made = make(app, &label, &format!("{} – Cairn", project.name()))?;
    tauri::async_runtime::spawn(shown_when_asked(app.clone(), label.clone(), project.key.clone()));
    let (app, closed) = (app.clone(), label.clone());
    made.on_window_event(move |event| match event {
        WindowEvent::CloseRequested { api, .. } => closing::requested(&app, &closed, api),
        WindowEvent::Destroyed => app.state::<Windows>().remove(&closed),
        _ => {}
    });
    Ok(())
}

/// Another process may ask for this window, because a session runs in it. SPEC S3.
async fn shown_when_asked(app: AppHandle, label: String, project: ProjectKey) {
    let host = app.state::<Windows>().host().clone();
    loop {
        host.asked_to_show(&project).await;
        let Some(window) = app.get_webview_window(&label) else {
            return;
        };
        let shown = window
            .unminimize()
            .and_then(|()| window.show())
            .and_then(|()| window.set_focus());
        if let Err(error) = shown {
            tracing::warn!(%error, "a window did not come to the front");
        }
    }
}

/// Opens the window that says why nothing else opens. Its page can only try again.
pub(crate) fn open_problem(app: &AppHandle) -> tauri::Result<()> {
    make(app, PROBLEM, "Cairn").map(drop)
}

fn make(app: &AppHandle, label: &str, title: &str) -> tauri::Result<WebviewWindow> {
    // The page is drawn in the right theme before it has asked anything, also where there is nobody to ask.
    let theme = serde_json::to_string(&start::theme(app))?;
    let builder = WebviewWindowBuilder::new(app, label, WebviewUrl::App("index.html".into()))
        .initialization_script(format!("window.cairnTheme = {theme};"))
        .title(title)
        .inner_size(SIZE.0, SIZE.1)
        .min_inner_size(LEAST.0, LEAST.1)
        .disable_drag_drop_handler()
        .devtools(cfg!(debug_assertions))
        .on_navigation(is_own_page)
        .on_new_window(|_, _| NewWindowResponse::Deny)
        .on_download(|_, _| false)
        .on_document_title_changed(|window, title| {
            if let Err(error) = window.set_title(&title) {
                tracing::debug!(%error, "a title was not set");
            }
        });
    platform::finish(builder).build()
}

/// Labels are made of the project's key, so that one project has one window.
fn label(key: &ProjectKey) -> String {
    format!("project-{key}")
}

/// A window shows its own page and nothing else, whatever a link, a drop or a script asks for. Case W23.
fn is_own_page(url: &Url) -> bool {
    let (scheme, host) = platform::PAGE;
    let own = url.scheme() == scheme
        && url.host_str() == Some(host)
        && url.port().is_none()
        && matches!(url.path(), "" | "/" | "/index.html")
        && url.query().is_none();
    if !own {
        tracing::warn!(scheme = url.scheme(), "a window was asked to go elsewhere");
    }
    own
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn w23_only_the_page_itself_is_its_own_page() {
        let (scheme, host) = platform::PAGE;
        for own in ["", "/", "/index.html", "/index.html#top"] {
            let address = format!("{scheme}://{host}{own}");
            assert!(is_own_page(&address.parse().unwrap()), "{address}");
        }
        for foreign in [
            "https://evil.example/",
            "http://127.0.0.1:8080/index.html",
            "http://tauri.localhost:8080/",
            "https://tauri.localhost/",
            "tauri://localhost:1/",
            "tauri://evil.example/",
            "tauri://localhost/assets/index.js",
            "tauri://localhost/index.html?d=1",
            "cairn://localhost/blob/00",
            "ipc://localhost/request",
            "file:///etc/passwd",
            "data:text/html,x",
            "javascript:alert(1)",
            "blob:tauri://localhost/1",
            "about:blank",
            "about:srcdoc",
            "view-source:tauri://localhost/",
            "webkit://resource",
            "ftp://localhost/",
            "smb://host/x",
        ] {
            assert!(!is_own_page(&foreign.parse().unwrap()), "{foreign}");
        }
        // What Windows calls the page is on other systems an address that anybody on this machine can serve.
        if !cfg!(windows) {
            assert!(!is_own_page(&"http://tauri.localhost/".parse().unwrap()));
        }
    }
}
