//! A story: a session of a real host with a scripted model, real files, tools, store and helper.
#![allow(dead_code, reason = "each test binary uses its part")]

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cairn_host::parts::{HelperProgram, Input, Pace, Presence, Sandbox};
use cairn_host::{Environment, Host, OpenSession, Project, Subscription};
use cairn_protocol::{
    ApprovalAnswer, EventBody, Mode, QuestionAnswer, RuleScope, SendWhen, SessionId, TurnOutcome,
};
use cairn_testkit::TempProject;
use cairn_testkit::provider::{Reply, Script, ScriptedServer};
use tempfile::TempDir;

/// What the person does when asked.
pub(crate) enum Says {
    Card(ApprovalAnswer),
    Always,
    Answer(Vec<QuestionAnswer>),
    Stop,
}

pub(crate) struct Story {
    pub(crate) host: Arc<Host>,
    pub(crate) project: Arc<Project>,
    pub(crate) session: Arc<OpenSession>,
    pub(crate) id: SessionId,
    pub(crate) events: Subscription,
    pub(crate) files: TempProject,
    pub(crate) server: ScriptedServer,
    /// Commands run within a sandbox, whatever the policy believes.
    pub(crate) walled: bool,
    pub(crate) _home: TempDir,
}

pub(crate) fn start_host(home: &Path) -> Arc<Host> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let variables = [
        ("CAIRN_HOME".into(), home.into()),
        ("PATH".into(), path),
        ("HOME".into(), home.into()),
    ];
    Host::start(
        Environment::new(variables),
        HelperProgram::at(env!("CARGO_BIN_EXE_cairn")),
        Pace::INSTANT,
    )
    .unwrap()
}

impl Story {
    pub(crate) async fn begin(files: &[(&str, &[u8])], replies: Vec<Reply>) -> Self {
        Self::begin_with(files, replies, "").await
    }

    /// The same with more lines in the model's profile.
    pub(crate) async fn begin_with(files: &[(&str, &[u8])], replies: Vec<Reply>, profile: &str) -> Self {
        Self::of(files, Script::new(replies), profile).await
    }

    /// The same with a server of its own kind.
    pub(crate) async fn of(files: &[(&str, &[u8])], script: Script, profile: &str) -> Self {
        let server = ScriptedServer::start(script).await.unwrap();
        let files = TempProject::new(files.iter().copied()).unwrap();
        let home = TempDir::new().unwrap();
        let config = format!(
            "[profiles.scripted]\nbase_url = \"{}\"\nmodel = \"scripted\"\n{profile}\n",
            server.base_url()
        );
        std::fs::write(home.path().join("config.toml"), config).unwrap();
        let host = start_host(home.path());
        let project = host.project(Some(files.root())).await.unwrap();
        let id = host.create_session(&project, Mode::Manual).await.unwrap().id;
        let events = host.follow(&project, &id);
        let session = host.open_session(&project, &id, Presence::Person).await.unwrap();
        // What is enforced depends on the machine; the golden logs are those of one that enforces nothing.
        let walled = Arc::new(AtomicBool::new(false));
        let seen = walled.clone();
        session
            .handle
            .change_policy(move |policy| {
                seen.store(policy.sandbox.is_enforced(), Ordering::SeqCst);
                policy.sandbox = Sandbox::default();
            })
            .await
            .unwrap();
        session.handle.snapshot().await.unwrap();
        Self {
            host,
            project,
            session,
            id,
            events,
            files,
            server,
            walled: walled.load(Ordering::SeqCst),
            _home: home,
        }
    }

    /// Sends a message and answers what is asked until the request ends.
    pub(crate) async fn request(&mut self, text: &str, says: Vec<Says>) -> TurnOutcome {
        self.send(text).await;
        self.until_end(says.into()).await
    }

    /// Sends a message.
    pub(crate) async fn send(&mut self, text: &str) {
        let (turn, queue) = (self.host.fresh_id().into(), self.host.fresh_id().into());
        let (text, attachments, when) = (text.to_owned(), Vec::new(), SendWhen::Queue);
        self.session
            .handle
            .step(Input::Send {
                text,
                attachments,
                when,
                turn,
                queue,
            })
            .await
            .unwrap();
    }

    pub(crate) async fn until_end(&mut self, mut says: VecDeque<Says>) -> TurnOutcome {
        let mut outcome = None;
        loop {
            let event = tokio::time::timeout(std::time::Duration::from_mins(1), self.events.events.recv());
            let event = event
                .await
                .expect("the story goes on within a minute")
                .expect("the session is open");
            match &event.body {
                EventBody::ApprovalRequested { approval } => {
                    let answer = match says
                        .pop_front()
                        .unwrap_or_else(|| panic!("no answer to the card {approval:?}"))
                    {
                        Says::Card(answer) => answer,
                        Says::Always => ApprovalAnswer::AllowAlways {
                            rules: vec![approval.offers[0].rule.clone()],
                            scope: RuleScope::Project,
                        },
                        Says::Stop => {
                            self.session.handle.step(Input::Stop).await.unwrap();
                            continue;
                        }
                        Says::Answer(_) => panic!("a card came where a question was expected: {approval:?}"),
                    };
                    self.session
                        .handle
                        .approve(approval.id.clone(), approval.digest.clone(), answer)
                        .await
                        .unwrap();
                }
                EventBody::QuestionAsked { question } => {
                    let Some(Says::Answer(answers)) = says.pop_front() else {
                        panic!("no answer to {question:?}")
                    };
                    self.session
                        .handle
                        .answer(question.id.clone(), answers)
                        .await
                        .unwrap();
                }
                EventBody::TurnCompleted { turn } => outcome.clone_from(&turn.outcome),
                EventBody::SessionChanged { .. } => {
                    if let Some(outcome) = outcome {
                        assert!(says.is_empty(), "not everything was asked");
                        return outcome;
                    }
                }
                _ => {}
            }
        }
    }

    /// Waits for an event.
    pub(crate) async fn until(&mut self, wanted: impl FnMut(&EventBody) -> bool) {
        until(&mut self.events, wanted).await;
    }
}

/// Waits for an event of a subscription.
pub(crate) async fn until(events: &mut Subscription, mut wanted: impl FnMut(&EventBody) -> bool) {
    loop {
        let event = tokio::time::timeout(std::time::Duration::from_mins(1), events.events.recv());
        if wanted(&event.await.unwrap().unwrap().body) {
            return;
        }
    }
}
