//! `cairn exec`: one request, the same loop, gate and store as the window. SPEC A2, A3, L7.

use std::io::{IsTerminal, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::task::{Context, Poll};

use cairn_host::parts::{Approve, Input, Presence};
use cairn_host::{Host, OpenSession, Project, Subscription};
use cairn_protocol::{
    ApiError, ErrorCode, EventBody, Mode, SendWhen, SessionId, SessionListParams, Turn, TurnOutcome,
};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::args::{ApproveArg, Exec, JsonArg, ModeArg};
use crate::{DONE, FAILED, USAGE, out};

mod print;
mod trust;

use print::{Own, Printer};

/// A limit stopped it, or the gate denied something.
const LIMITED: u8 = 3;
/// Interrupted.
const INTERRUPTED: u8 = 130;
/// Largest prompt from standard input, bytes.
const PROMPT: u64 = 4_000_000;

pub(crate) async fn run(host: &Arc<Host>, exec: Exec) -> Result<u8, ApiError> {
    if let Some(error) = host.config().broken() {
        out::problem(&format!("{error}. Nothing was sent; mend that first."));
        return Ok(USAGE);
    }
    let demo = exec.profile.as_deref() == Some("demo");
    let Some(prompt) = prompt(exec.prompt.as_deref(), demo)? else {
        out::problem("There is nothing to do: give a prompt, or - to read it from standard input.");
        return Ok(USAGE);
    };
    let project = open_project(host, exec.project.clone(), demo).await?;
    for notice in host.sweep().await {
        out::note(&format!("note: {}", notice.text));
    }
    trust::tell(host, &project, exec.trust).await?;
    if let Some(name) = exec.profile.as_deref() {
        host.check_profile(name)?;
    }
    let (id, subscription) = session(host, &project, &exec).await?;
    let approve = match exec.approve {
        ApproveArg::None => Approve::None,
        ApproveArg::Edits => Approve::Edits,
        ApproveArg::All => Approve::All,
    };
    let session = host
        .open_session(&project, &id, Presence::Headless { approve })
        .await?;
    choose_model(host, &session, exec.profile.as_deref()).await?;
    if let Some(mode) = exec.mode {
        session.handle.step(Input::SetMode(mode_of(mode))).await?;
    }
    let own = Own {
        turn: host.fresh_id().into(),
        queue: host.fresh_id().into(),
    };
    let send = Input::Send {
        text: prompt,
        attachments: Vec::new(),
        when: SendWhen::Queue,
        turn: own.turn.clone(),
        queue: own.queue.clone(),
    };
    let heard = Interrupts::listen();
    session.handle.step(send).await?;
    let ended = follow(&session, subscription, Printer::new(exec.json, own), heard).await?;
    Ok(exit_code(&ended))
}

fn prompt(given: Option<&str>, demo: bool) -> Result<Option<String>, ApiError> {
    let text = match given {
        Some("-") => Some(standard_input()?),
        Some(text) => Some(text.to_owned()),
        None if demo => Some("Show me what you can do.".to_owned()),
        None if std::io::stdin().is_terminal() => None,
        None => Some(standard_input()?),
    };
    Ok(text.filter(|text| !text.trim().is_empty()))
}

fn standard_input() -> Result<String, ApiError> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().take(PROMPT + 1).read_to_end(&mut bytes);
    read.map_err(|error| {
        ApiError::new(
            ErrorCode::BadRequest,
            format!("Standard input could not be read: {error}"),
        )
    })?;
    if bytes.len() as u64 > PROMPT {
        return Err(ApiError::new(
            ErrorCode::BadRequest,
            format!("The prompt is larger than {PROMPT} bytes. Put it in a file."),
        ));
    }
    String::from_utf8(bytes).map_err(|_| {
        ApiError::new(
            ErrorCode::BadRequest,
            "The prompt on standard input is not UTF-8 text.",
        )
    })
}

async fn open_project(
    host: &Arc<Host>,
    folder: Option<PathBuf>,
    demo: bool,
) -> Result<Arc<Project>, ApiError> {
    match folder {
        Some(folder) => host.project(Some(&folder)).await,
        None if demo => host.project(None).await,
        None => host.project(Some(&PathBuf::from("."))).await,
    }
}

async fn session(
    host: &Arc<Host>,
    project: &Arc<Project>,
    exec: &Exec,
) -> Result<(SessionId, Subscription), ApiError> {
    let id = match (&exec.session, exec.go_on) {
        (Some(id), _) => SessionId::from(id.as_str()),
        (None, true) => {
            let params = SessionListParams {
                limit: 1,
                ..SessionListParams::default()
            };
            let newest = host
                .list_sessions(Some(&project.key), &params)
                .await?
                .sessions
                .into_iter()
                .next();
            newest.map(|session| session.id).ok_or_else(|| {
                ApiError::new(
                    ErrorCode::BadRequest,
                    "There is no session to continue in this project yet.",
                )
            })?
        }
        (None, false) => {
            let mode = host.config().mode_of_environment().unwrap_or(Mode::Manual);
            host.create_session(project, mode).await?.id
        }
    };
    let subscription = host.follow(project, &id);
    Ok((id, subscription))
}

/// The profile asked for, else that of the session or configuration, else the one server with one model.
async fn choose_model(host: &Arc<Host>, session: &OpenSession, asked: Option<&str>) -> Result<(), ApiError> {
    let profile = match asked {
        Some(name) => Some(name.to_owned()),
        None => session.handle.snapshot().await?.session.profile,
    };
    let warnings = match profile {
        Some(name) => host.use_profile(&session.handle, &name).await?,
        None => host.use_only_server(&session.handle).await?,
    };
    for warning in warnings {
        out::note(&format!("note: {warning}"));
    }
    Ok(())
}

fn mode_of(mode: ModeArg) -> Mode {
    match mode {
        ModeArg::Manual => Mode::Manual,
        ModeArg::AcceptEdits => Mode::AcceptEdits,
        ModeArg::Auto => Mode::Auto,
        ModeArg::Plan => Mode::Plan,
    }
}

/// Prints what happens until the request ends. The first interrupt stops the request, the second does not wait.
async fn follow(
    session: &OpenSession,
    mut subscription: Subscription,
    mut printer: Printer,
    mut heard: Interrupts,
) -> Result<Turn, ApiError> {
    let mut interrupts = 0;
    loop {
        let event = tokio::select! {
            event = subscription.events.recv() => event,
            () = heard.next() => {
                interrupts += 1;
                if interrupts > 1 {
                    return Err(ApiError::new(ErrorCode::Internal, "Interrupted twice; the rest was not waited for."));
                }
                session.handle.step(Input::Stop).await?;
                continue;
            }
        };
        let Some(event) = event else {
            return Err(ApiError::new(
                ErrorCode::Storage,
                "The session ended before the request did.",
            ));
        };
        printer.event(&event);
        match &event.body {
            // The session's state and counts follow the end of a request and are stored with it.
            EventBody::SessionChanged { .. } => {
                if let Some(turn) = printer.ended() {
                    return Ok(turn);
                }
            }
            EventBody::Notice { notice } if matches!(notice.code.as_str(), "storage_failed" | "fault") => {
                return Err(ApiError::new(ErrorCode::Storage, notice.text.clone()));
            }
            _ => {}
        }
    }
}

/// An interrupt, or the polite end that a shell, a terminal or a time limit asks for: each stops the request in order.
/// Heard from when this is made, so that none is lost between two waits.
struct Interrupts(Vec<Signal>);

impl Interrupts {
    fn listen() -> Self {
        let kinds = [
            SignalKind::interrupt(),
            SignalKind::terminate(),
            SignalKind::hangup(),
        ];
        let heard = kinds.map(signal).into_iter().filter_map(|heard| {
            heard
                .inspect_err(|error| tracing::warn!(%error, "an interrupt cannot be heard"))
                .ok()
        });
        Self(heard.collect())
    }

    async fn next(&mut self) {
        let any = |context: &mut Context<'_>| {
            let struck = self
                .0
                .iter_mut()
                .any(|signal| signal.poll_recv(context).is_ready());
            if struck { Poll::Ready(()) } else { Poll::Pending }
        };
        std::future::poll_fn(any).await;
    }
}

fn exit_code(turn: &Turn) -> u8 {
    match &turn.outcome {
        Some(TurnOutcome::Done) if turn.summary.denied > 0 => LIMITED,
        Some(TurnOutcome::Done) => DONE,
        Some(TurnOutcome::Paused { .. } | TurnOutcome::Denied) => LIMITED,
        Some(TurnOutcome::Stopped) => INTERRUPTED,
        _ => FAILED,
    }
}

impl JsonArg {
    fn wants(self, body: &EventBody) -> bool {
        let is_detail = matches!(
            body,
            EventBody::ItemDelta { .. } | EventBody::ProcessChanged { .. }
        );
        self == Self::Deltas || !is_detail
    }
}
