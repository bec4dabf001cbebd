//! Start, second start, end.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use cairn_host::parts::{HelperProgram, Pace};
use cairn_host::{Config, Environment, Host, start_logs};
use cairn_protocol::{ApiError, Theme};
use tauri::{AppHandle, Manager, RunEvent};

use crate::{bridge, instance, platform, scheme, window};

/// Starts the program, or tells the running one to open a window. Returns when the last window is closed.
pub(crate) fn run() -> ExitCode {
    let environment = match platform::prepare() {
        Ok(environment) => environment,
        Err(problem) => return refuse(&problem),
    };
    let folder = match folder_argument(std::env::args_os()) {
        Ok(folder) => folder,
        Err(problem) => return refuse(&problem),
    };
    let mut builder = tauri::Builder::default();
    let _instance = if platform::has_session_bus(&environment) {
        builder = builder.plugin(tauri_plugin_single_instance::init(second_start));
        None
    } else {
        // Nothing carries a folder to a running instance: it is at least said that there is one, and which.
        match instance::claim(&environment) {
            Ok(lock) => lock,
            Err(problem) => return refuse(&problem),
        }
    };
    let mut context = tauri::generate_context!();
    let security = &mut context.config_mut().app.security;
    security.csp = security.csp.take().map(platform::complete_policy);
    let builder = builder
        .plugin(tauri_plugin_opener::init())
        .invoke_handler(tauri::generate_handler![bridge::request, bridge::subscribe])
        .register_asynchronous_uri_scheme_protocol("cairn", scheme::answer)
        .setup(move |app| {
            let app = app.handle();
            app.manage(Wanted { environment, folder });
            if let Err(error) = tauri::async_runtime::block_on(start(app)) {
                // Whoever started it from a terminal reads it there, everybody else in the window.
                refuse(&error.message);
                window::open_problem(app)?;
            }
            Ok(())
        });
    // Without a display the toolkit knows no other way out than a panic.
    let built = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| builder.build(context)));
    match built {
        Ok(Ok(app)) => {
            app.run(|app, event| {
                if let RunEvent::Exit = event {
                    end(app);
                }
            });
            ExitCode::SUCCESS
        }
        Ok(Err(error)) => refuse(&format!("The window could not be made: {error}")),
        Err(_) => refuse(
            "No window system could be reached. Check that DISPLAY or WAYLAND_DISPLAY names one that runs, then start \
             again, or use the command `cairn exec`",
        ),
    }
}

/// Says on standard error why nothing opens; there is no window to say it in.
fn refuse(problem: &str) -> ExitCode {
    say(problem);
    ExitCode::from(1)
}

/// Says something to whoever started it from a terminal.
pub(crate) fn say(words: &str) {
    use std::io::Write;
    writeln!(std::io::stderr(), "cairn-desktop: {words}").unwrap_or_default();
}

fn folder_argument(arguments: impl Iterator<Item = OsString>) -> Result<Option<PathBuf>, String> {
    let mut folders: Vec<OsString> = arguments.skip(1).collect();
    match (folders.pop(), folders.is_empty()) {
        (None, _) => Ok(None),
        (Some(folder), true) => {
            let folder = PathBuf::from(folder);
            // A second start is in another folder than the first: what reaches it must be absolute.
            std::path::absolute(&folder)
                .map(Some)
                .map_err(|error| format!("{}: {error}", folder.display()))
        }
        (Some(_), false) => Err("give one folder, or none for the sample project".to_owned()),
    }
}

/// What this start was asked for.
struct Wanted {
    environment: Environment,
    folder: Option<PathBuf>,
}

/// The theme that the user chose, for a page that cannot ask yet.
pub(crate) fn theme(app: &AppHandle) -> Theme {
    Config::of(&app.state::<Wanted>().environment).theme()
}

/// Opens the wanted window. May be called again after a failure: what was reached stays.
async fn start(app: &AppHandle) -> Result<(), ApiError> {
    let wanted = app.state::<Wanted>();
    if app.try_state::<bridge::Windows>().is_none() {
        let host = Host::start(wanted.environment.clone(), helper(), Pace::READABLE)?;
        match start_logs(&host.home().logs(), "desktop", &wanted.environment) {
            Ok(guard) => {
                app.manage(guard);
            }
            // Everything works without logs.
            Err(error) => {
                refuse(&error.message);
            }
        }
        app.manage(bridge::Windows::new(host));
    }
    let host = app.state::<bridge::Windows>().host().clone();
    let project = host.project(wanted.folder.as_deref()).await?;
    window::open(app, project).map_err(internal)?;
    tauri::async_runtime::spawn(async move { host.sweep_aloud().await });
    Ok(())
}

/// Tries the start again for the window that says why it failed. When it works, that window goes.
pub(crate) async fn again(app: &AppHandle) -> ApiError {
    if let Err(error) = start(app).await {
        return error;
    }
    if let Some(problem) = app.get_webview_window(window::PROBLEM)
        && let Err(error) = problem.destroy()
    {
        tracing::warn!(%error, "the window that told of a failed start stays");
    }
    ApiError::new(
        cairn_protocol::ErrorCode::Internal,
        "It works now, in a window of its own.",
    )
}

/// The headless command from beside this program plays the helper: it does not link the window toolkit, whose
/// libraries start threads before `main`, and a process with threads must not fork.
fn helper() -> HelperProgram {
    let name = if cfg!(windows) { "cairn.exe" } else { "cairn" };
    let beside = std::env::current_exe()
        .ok()
        .and_then(|own| own.parent().map(|parent| parent.join(name)));
    match beside.filter(|path| path.is_file()) {
        Some(path) => HelperProgram::at(path),
        None => HelperProgram::this_program(),
    }
}

fn internal(error: tauri::Error) -> ApiError {
    ApiError::new(
        cairn_protocol::ErrorCode::Internal,
        format!("The window could not be made: {error}"),
    )
}

/// Another start reached this instance: the same project's window comes to the front, another project gets its own.
fn second_start(app: &AppHandle, arguments: Vec<String>, folder: String) {
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        let Some(windows) = app.try_state::<bridge::Windows>() else {
            // The running start has failed and says so; this one has nothing to add.
            return;
        };
        let host: Arc<Host> = windows.host().clone();
        let wanted = arguments.get(1).map(|argument| Path::new(&folder).join(argument));
        let opened = match host.project(wanted.as_deref()).await {
            Ok(project) => window::open(&app, project).map_err(|error| error.to_string()),
            Err(error) => Err(error.message),
        };
        if let Err(problem) = opened {
            refuse(&problem);
            app.state::<bridge::Windows>().notice_everywhere(&app, &problem);
        }
    });
}

fn end(app: &AppHandle) {
    if let Some(windows) = app.try_state::<bridge::Windows>() {
        tauri::async_runtime::block_on(windows.host().shutdown());
    }
}
