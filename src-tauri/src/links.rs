//! Links leave by way of the system. The host has checked them before.

use tauri::AppHandle;
use tauri_plugin_opener::OpenerExt;

/// Opens an address in the person's browser or mail program.
pub(crate) fn open(app: &AppHandle, href: &str) -> Result<(), String> {
    app.opener()
        .open_url(href, None::<&str>)
        .map_err(|error| error.to_string())
}
