//! `cairn://localhost/blob/ID`: pictures from the blob store, read-only, by opaque id, to project windows only.

use cairn_protocol::ApiError;
use tauri::http::{Request, Response, StatusCode, header};
use tauri::{Manager, Runtime, UriSchemeContext, UriSchemeResponder};

use crate::bridge::Windows;

/// Answers a request of a page for a picture.
pub(crate) fn answer<R: Runtime>(
    context: UriSchemeContext<'_, R>,
    request: Request<Vec<u8>>,
    to: UriSchemeResponder,
) {
    let windows = context
        .app_handle()
        .state::<Windows>()
        .get(context.webview_label());
    let path = request.uri().path().to_owned();
    tauri::async_runtime::spawn(async move {
        let found = match (windows, path.strip_prefix("/blob/")) {
            (Ok(window), Some(id)) => window.blob(id).await,
            (Err(error), _) => Err(error),
            (Ok(_), None) => Err(ApiError::new(cairn_protocol::ErrorCode::NotFound, "")),
        };
        to.respond(response(found));
    });
}

fn response(found: Result<Vec<u8>, ApiError>) -> Response<Vec<u8>> {
    let empty = |status| {
        let mut response = Response::new(Vec::new());
        *response.status_mut() = status;
        response
    };
    let Ok(bytes) = found else {
        return empty(StatusCode::NOT_FOUND);
    };
    // Only what is a picture by its first bytes is given out: nothing else is ever drawn from there.
    let Some(media_type) = cairn_host::parts::picture_type(&bytes) else {
        return empty(StatusCode::NOT_FOUND);
    };
    Response::builder()
        .header(header::CONTENT_TYPE, media_type)
        .header(header::X_CONTENT_TYPE_OPTIONS, "nosniff")
        .header(header::CACHE_CONTROL, "private, max-age=31536000, immutable")
        .body(bytes)
        .unwrap_or_else(|_| empty(StatusCode::INTERNAL_SERVER_ERROR))
}
