//! What the demo says. Owns: the tour's steps, and what to say when a step was skipped, denied or failed, or when the
//! person types something else. Pure: everything is read from the conversation itself.

use cairn_agent::model::{ModelRequest, Part, Role};
use serde_json::{Value, json};

/// One thing the demo does.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Line {
    /// Says words.
    Say(String),
    /// Calls a tool.
    Call(&'static str, Value),
}

pub(super) const SOURCE: &str = "tidewater/axis.py";
pub(super) const PICTURE: &str = "docs/axis.png";
/// The mistake, as it stands in the source.
const WRONG: &str = "    return MARGIN_LEFT\n";
const RIGHT: &str = "    widest = max(text_width(text) for text in labels)\n    return max(MARGIN_LEFT, widest + LABEL_GAP)\n";
const FOLLOW: &str = "Follow the widest label";
const WIDEN: &str = "A wider fixed margin";

/// Steps of the tour in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Folder,
    Source,
    Search,
    Picture,
    Plan,
    Question,
    Edit,
    Check,
    Close,
}

/// One call of the tour and what came of it.
struct Past<'a> {
    name: &'a str,
    arguments: &'a str,
    result: Option<(&'a str, bool)>,
}

impl Past<'_> {
    fn ok(&self) -> bool {
        self.result.is_some_and(|(_, ok)| ok)
    }

    fn text(&self) -> &str {
        self.result.map_or("", |(text, _)| text)
    }
}

/// The demo's next reply.
pub(super) fn reply(request: &ModelRequest) -> Vec<Line> {
    if request.tools.is_empty() {
        return vec![say("A tour of Cairn with the tide chart")];
    }
    let start = tour_start(request);
    let past = calls_since(request, start);
    let Some(last) = request.messages.last() else {
        return greet();
    };
    if last.role == Role::User {
        let text = words_of(&last.parts).to_lowercase();
        let begun = request.messages.len() - 1 > start;
        if !begun {
            return greet();
        }
        if finished(&past) || !GO_ON.iter().any(|word| text.contains(word)) {
            return vec![say(if finished(&past) {
                WHAT_I_AM
            } else {
                WHAT_I_AM_MIDWAY
            })];
        }
    }
    next(&past, is_sample(request))
}

/// Calls made in the whole conversation, for ids that were never used.
pub(super) fn calls_made(request: &ModelRequest) -> usize {
    let parts = request.messages.iter().flat_map(|message| &message.parts);
    parts.filter(|part| matches!(part, Part::Call { .. })).count()
}

/// About how many tokens the request would be for a real model.
pub(super) fn tokens(request: &ModelRequest) -> u64 {
    let parts = request.messages.iter().flat_map(|message| &message.parts);
    let conversation: usize = parts
        .map(|part| match part {
            Part::Text(text) => text.len(),
            Part::Picture(_) => 3_000,
            Part::Reasoning(data) => data.json.len(),
            Part::Call { name, arguments, .. } => name.len() + arguments.len(),
            Part::Result { text, pictures, .. } => text.len() + 3_000 * pictures.len(),
        })
        .sum();
    let tools: usize = request
        .tools
        .iter()
        .map(|tool| tool.description.len() + tool.schema.to_string().len())
        .sum();
    ((conversation + request.system.len() + tools) as u64).div_ceil(4)
}

/// The message that began the running tour: the first one, or a later wish for another tour.
fn tour_start(request: &ModelRequest) -> usize {
    let wishes = |at: &usize| {
        request.messages.get(*at).is_some_and(|message| {
            message.role == Role::User
                && words_of(&message.parts)
                    .to_lowercase()
                    .split(|c: char| !c.is_alphabetic())
                    .any(|word| word == "tour")
        })
    };
    let first = request
        .messages
        .iter()
        .position(|message| message.role == Role::User)
        .unwrap_or(0);
    (first + 1..request.messages.len())
        .rev()
        .find(wishes)
        .unwrap_or(first)
}

fn calls_since(request: &ModelRequest, start: usize) -> Vec<Past<'_>> {
    let parts = || {
        request
            .messages
            .iter()
            .skip(start)
            .flat_map(|message| &message.parts)
    };
    parts()
        .filter_map(|part| match part {
            Part::Call { id, name, arguments } => {
                let result = parts().find_map(|part| match part {
                    Part::Result { id: of, text, ok, .. } if of == id => Some((text.as_str(), *ok)),
                    _ => None,
                });
                Some(Past {
                    name,
                    arguments,
                    result,
                })
            }
            _ => None,
        })
        .collect()
}

/// Whether the folder is the sample project; on any other one the demo only looks.
fn is_sample(request: &ModelRequest) -> bool {
    let parts = request.messages.iter().flat_map(|message| &message.parts);
    parts.into_iter().any(|part| match part {
        Part::Result { text, .. } => text.contains("check.sh") && text.contains("tidewater"),
        _ => false,
    })
}

fn of(past: &[Past<'_>], step: Step) -> Vec<usize> {
    let plans: Vec<usize> = indexes(past, |call| call.name == "todo_write");
    match step {
        Step::Folder => indexes(past, |call| call.name == "list_dir"),
        Step::Source => indexes(past, |call| {
            call.name == "read_file" && call.arguments.contains(SOURCE)
        }),
        Step::Search => indexes(past, |call| call.name == "grep"),
        Step::Picture => indexes(past, |call| {
            call.name == "read_file" && call.arguments.contains(PICTURE)
        }),
        Step::Plan => plans.into_iter().take(1).collect(),
        Step::Question => indexes(past, |call| call.name == "ask_user"),
        Step::Edit => indexes(past, |call| call.name == "edit_file"),
        Step::Check => indexes(past, |call| call.name == "shell"),
        Step::Close => plans.into_iter().skip(1).collect(),
    }
}

fn indexes(past: &[Past<'_>], wanted: impl Fn(&Past<'_>) -> bool) -> Vec<usize> {
    past.iter()
        .enumerate()
        .filter(|(_, call)| wanted(call))
        .map(|(at, _)| at)
        .collect()
}

fn latest<'a, 'b>(past: &'a [Past<'b>], step: Step) -> Option<&'a Past<'b>> {
    of(past, step).last().and_then(|at| past.get(*at))
}

fn finished(past: &[Past<'_>]) -> bool {
    latest(past, Step::Close).is_some()
        || past.iter().any(|call| {
            call.name == "list_dir" && call.ok() && past.len() == 1 && !call.text().contains("check.sh")
        })
}

fn next(past: &[Past<'_>], sample: bool) -> Vec<Line> {
    let made = |step| latest(past, step).is_some();
    if !made(Step::Folder) {
        return greet();
    }
    if !sample {
        return vec![say(ELSEWHERE)];
    }
    if !made(Step::Source) || !made(Step::Search) {
        return vec![
            say(
                "A small Python project. I read the file that the README blames, and search for the margin at the same time: reading inside the project needs no permission.\n\n",
            ),
            Line::Call("read_file", json!({ "path": SOURCE })),
            Line::Call(
                "grep",
                json!({ "pattern": "MARGIN_LEFT|left_margin", "context": 1 }),
            ),
        ];
    }
    if !made(Step::Picture) {
        return vec![
            say(
                "`left_margin` gets the labels and never looks at them. Let me see what that does to the chart. The picture below is what a model with vision gets; click it to see it in full size.\n\n",
            ),
            Line::Call("read_file", json!({ "path": PICTURE })),
        ];
    }
    if !made(Step::Plan) {
        return vec![
            say(
                "The signs at the left edge are cut off: four characters do not fit into 24 pixels. I write down a plan; it stays pinned at the right.\n\n",
            ),
            Line::Call("todo_write", plan(1, Outcome::Open)),
        ];
    }
    let mended = latest(past, Step::Source)
        .is_some_and(|read| read.ok() && !read.text().contains("return MARGIN_LEFT"));
    if mended && !made(Step::Edit) {
        if !made(Step::Check) {
            return check("The mistake is mended already, so there is nothing to edit. ");
        }
    } else if !made(Step::Question) {
        let lead = "There are two ways to mend it, and that is for you to decide.\n\n";
        return vec![say(lead), Line::Call("ask_user", question())];
    } else if !made(Step::Edit) {
        return edit(latest(past, Step::Question));
    }
    if !made(Step::Check) {
        return check(after_edit(latest(past, Step::Edit)));
    }
    if !made(Step::Close) {
        return close(past);
    }
    vec![say(summary(past))]
}

fn say(text: impl Into<String>) -> Line {
    Line::Say(text.into())
}

fn greet() -> Vec<Line> {
    vec![
        say(
            "**This is the demo: a script, not a model.** What I say is written in advance, whatever you type. \
             Everything else is real: the tools, the questions, the approvals, the files and the history.\n\n\
             I will mend a small mistake in this sample project. Nothing is changed or run before you allow it. \
             First I look around.\n\n",
        ),
        Line::Call("list_dir", json!({ "path": "." })),
    ]
}

fn question() -> Value {
    json!({ "questions": [{
        "question": "How shall the labels of the y axis get their room?",
        "options": [
            { "label": FOLLOW, "description": "The margin grows with the labels and fits whatever comes." },
            { "label": WIDEN, "description": "One number changes; labels over five characters would be cut again." },
        ],
    }] })
}

/// The edit that the answer asks for.
fn edit(answer: Option<&Past<'_>>) -> Vec<Line> {
    let text = answer.map_or("", |answer| answer.text());
    let answered = answer.is_some_and(Past::ok);
    let (lead, old, new) = if answered && text.contains(WIDEN) && !text.contains(FOLLOW) {
        (
            "A wider margin, then.",
            "MARGIN_LEFT = 24\n",
            "MARGIN_LEFT = 48\n",
        )
    } else if answered && text.contains(FOLLOW) {
        ("The margin shall follow the widest label.", WRONG, RIGHT)
    } else if answered {
        (
            "I am a script and cannot follow free words, so I take the first way: the margin follows the widest label.",
            WRONG,
            RIGHT,
        )
    } else {
        (
            "Without an answer I take the first way: the margin follows the widest label.",
            WRONG,
            RIGHT,
        )
    };
    vec![
        say(format!(
            "{lead} Below is the exact change. *Allow once* makes it, *Skip* leaves the file alone and I go on, *Deny…* \
             stops me.\n\n"
        )),
        Line::Call(
            "edit_file",
            json!({ "path": SOURCE, "old_string": old, "new_string": new }),
        ),
    ]
}

fn after_edit(edit: Option<&Past<'_>>) -> &'static str {
    if edit.is_some_and(Past::ok) {
        "The file is changed; what it was before is kept. "
    } else {
        "The edit did not happen, so the file is as it was. A model would now ask you or try another way; I just go on. "
    }
}

fn check(lead: &str) -> Vec<Line> {
    vec![
        say(format!(
            "{lead}Now the project's own tests. This is a command, so you are asked again: the card shows the line exactly \
             as it would run.\n\n"
        )),
        Line::Call(
            "shell",
            json!({ "command": "sh check.sh", "description": "run the tests of the sample project" }),
        ),
    ]
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Open,
    Done,
    Dropped,
}

impl Outcome {
    fn of(call: Option<&Past<'_>>) -> Self {
        if call.is_some_and(Past::ok) {
            Self::Done
        } else {
            Self::Dropped
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Open => "pending",
            Self::Done => "completed",
            Self::Dropped => "cancelled",
        }
    }
}

/// The plan while the edit is being prepared (`at` 1) or at the end (`at` 2, with what came of the check).
fn plan(at: usize, check: Outcome) -> Value {
    let edit = if at == 1 { "in_progress" } else { "completed" };
    plan_with(edit, check.word())
}

fn plan_with(edit: &str, check: &str) -> Value {
    json!({ "todos": [
        { "content": "Find where the margin is set", "status": "completed" },
        { "content": "Look at the chart", "status": "completed" },
        { "content": "Give the labels the room they need", "status": edit },
        { "content": "Run the tests", "status": check },
    ] })
}

fn close(past: &[Past<'_>]) -> Vec<Line> {
    let edit = latest(past, Step::Edit).map_or(Outcome::Done, |edit| Outcome::of(Some(edit)));
    let check = Outcome::of(latest(past, Step::Check));
    vec![Line::Call("todo_write", plan_with(edit.word(), check.word()))]
}

fn summary(past: &[Past<'_>]) -> String {
    let edit = match latest(past, Step::Edit) {
        None => "- The mistake was mended before; no file was changed.",
        Some(edit) if edit.ok() => "- `tidewater/axis.py` was changed, as you allowed it.",
        Some(_) => "- No file was changed: the edit was not allowed or did not work.",
    };
    let check = match latest(past, Step::Check) {
        Some(check) if check.ok() => "- The tests ran, and all of them pass.",
        Some(check) if check.text().contains("FAILED") => {
            "- The tests ran, and they fail as long as the mistake is there."
        }
        _ => "- The tests did not run to a good end; the card above says why.",
    };
    format!(
        "That was the tour.\n\n{edit}\n{check}\n- Everything above is stored: close the window, come back, and it is all \
         there.\n\nTo work for real, choose a model in *Settings*: one that runs on this machine (Ollama, llama.cpp, \
         LM Studio, vLLM) or a service with your key. Type *tour* to see this again."
    )
}

fn words_of(parts: &[Part]) -> String {
    let texts: Vec<&str> = parts
        .iter()
        .filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    texts.join("\n")
}

const GO_ON: [&str; 5] = ["go on", "continue", "weiter", "next", "继续"];

const WHAT_I_AM: &str = "I am the demo, a script: I cannot understand what you write, and I will not pretend to. \
    Choose a model in *Settings* to get real answers: one that runs on this machine (Ollama, llama.cpp, LM Studio, vLLM) \
    or a service with your key. Type *tour* to see the tour again.";

const WHAT_I_AM_MIDWAY: &str = "I am the demo, a script: I cannot understand what you write, and I will not pretend to. \
    The tour stands where it was: type *go on* to continue it, or *tour* to begin again. For real answers choose a model \
    in *Settings*: one that runs on this machine (Ollama, llama.cpp, LM Studio, vLLM) or a service with your key.";

const ELSEWHERE: &str = "This folder is not the sample project, and a script should not touch your files, so I stop here. \
    The listing above is real, as is everything but me. Choose a model in *Settings* to work in this folder, or open the \
    sample project to see the whole tour.";
