//! A command of the user's own, such as `ddgs`. It is started directly, never by a shell; the query is one argument.

use std::time::Duration;

use cairn_exec::{CommandSpec, Network, Program};
use cairn_protocol::CommandEnd;
use serde_json::Value;

use super::{Around, Found, Hit, MOST_RESULTS, json};

/// A little less than the limit of the call, so that there is time to say what happened.
const LIMIT: Duration = Duration::from_secs(28);
/// Characters of what a command says when it fails.
const SAID: usize = 300;

pub(super) async fn search(query: &str, around: Around<'_>) -> Found {
    let Some((program, arguments)) = arguments(&around.config.command, query) else {
        return Found::Failed(
            "no `command` is set under [web_search] in the configuration; tell the user".to_owned(),
        );
    };
    let mut spec = CommandSpec {
        program: Program::Direct {
            program: program.clone().into(),
            arguments: arguments.into_iter().map(Into::into).collect(),
        },
        workdir: around.folder,
        environment: around.environment.to_vec(),
        limit: Some(LIMIT),
        cancel: around.cancel.clone(),
        walls: None,
    };
    if let Some(bounds) = around.bounds {
        let walled = tokio::task::spawn_blocking(move || {
            spec.environment = bounds.environment(&spec.environment, Network::On);
            spec.walls = Some(bounds.around_command(Network::On).0);
            spec
        });
        match walled.await {
            Ok(walled) => spec = walled,
            Err(error) => return Found::Failed(error.to_string()),
        }
    }
    let finished = match around.processes.run(spec, |_| {}).await {
        Ok(finished) => finished,
        Err(error) => return Found::Failed(error.to_string()),
    };
    let text = finished.output.text();
    match finished.end {
        CommandEnd::Exited { code: 0 } => read(&text),
        CommandEnd::Exited { code } => Found::Failed(format!(
            "`{program}` ended with exit code {code}: {}",
            super::one_line(&text, SAID)
        )),
        CommandEnd::TimedOut => Found::Failed(format!("`{program}` was ended after {} s", LIMIT.as_secs())),
        CommandEnd::Signalled { signal } => Found::Failed(format!("`{program}` was ended by {signal}")),
        CommandEnd::Stopped | CommandEnd::Running | CommandEnd::Interrupted => {
            Found::Failed("the search was stopped".to_owned())
        }
    }
}

/// Program and arguments, the query in its place.
fn arguments(command: &[String], query: &str) -> Option<(String, Vec<String>)> {
    let (program, rest) = command.split_first()?;
    // A query that begins with a dash would be an option to many programs.
    let query = query.trim_start_matches('-').trim_start();
    let mut arguments: Vec<String> = rest
        .iter()
        .map(|argument| argument.replace("{query}", query))
        .collect();
    if !rest.iter().any(|argument| argument.contains("{query}")) {
        arguments.push(query.to_owned());
    }
    Some((program.clone(), arguments))
}

/// JSON (a list, or an object with `results`), one JSON object a line, or plain text: blocks of title, address and
/// snippet.
fn read(text: &str) -> Found {
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return Found::Nothing;
    }
    let values: Option<Vec<Value>> = match serde_json::from_str::<Value>(trimmed) {
        Ok(Value::Array(list)) => Some(list),
        Ok(Value::Object(mut object)) => match object.remove("results") {
            Some(Value::Array(list)) => Some(list),
            _ => Some(vec![Value::Object(object)]),
        },
        Ok(_) => None,
        Err(_) => trimmed
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).ok().filter(Value::is_object))
            .collect(),
    };
    if let Some(values) = values {
        let hits = json::hits(
            &values,
            &["title", "name"],
            &["url", "href", "link"],
            &["snippet", "body", "content", "description"],
        );
        return match hits.is_empty() {
            true if values.is_empty() => Found::Nothing,
            true => Found::Changed("its JSON has no objects with `title` and `url`".to_owned()),
            false => Found::Hits(hits),
        };
    }
    let hits = blocks(trimmed);
    if hits.is_empty() {
        let text = "it prints neither JSON nor addresses; it should print a list of objects with `title`, `url`, `snippet`";
        return Found::Changed(text.to_owned());
    }
    Found::Hits(hits)
}

/// Results of plain text: around each line that holds an address, the line before is its title, those after it its
/// snippet.
fn blocks(text: &str) -> Vec<Hit> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let address = |line: &str| {
        let start = line.find("https://").or_else(|| line.find("http://"))?;
        line.get(start..)?.split_whitespace().next().map(str::to_owned)
    };
    let mut hits = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(url) = address(line) else { continue };
        let before = at
            .checked_sub(1)
            .and_then(|at| lines.get(at))
            .copied()
            .unwrap_or_default();
        let title = before
            .trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ')' | ' '))
            .trim_start_matches("title");
        let snippet: Vec<&str> = lines
            .iter()
            .skip(at + 1)
            .take_while(|line| !line.is_empty() && address(line).is_none())
            .copied()
            .collect();
        hits.extend(Hit::new(title, &url, &snippet.join(" ")));
        if hits.len() == MOST_RESULTS {
            break;
        }
    }
    hits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_query_is_one_argument_and_never_an_option() {
        let command = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        assert_eq!(
            arguments(
                &command(&["ddgs", "text", "-q", "{query}", "-m"]),
                "a; rm -rf $(b) \"c\""
            ),
            Some((
                "ddgs".to_owned(),
                command(&["text", "-q", "a; rm -rf $(b) \"c\"", "-m"])
            ))
        );
        assert_eq!(
            arguments(&command(&["s"]), "--help me"),
            Some(("s".to_owned(), command(&["help me"])))
        );
        assert_eq!(arguments(&[], "x"), None);
    }

    #[test]
    fn every_usual_form_of_output_is_read() {
        for text in [
            r#"[{"title": "T", "href": "https://a.example/", "body": "S"}]"#,
            r#"{"results": [{"title": "T", "url": "https://a.example/", "snippet": "S"}]}"#,
            "{\"title\": \"T\", \"link\": \"https://a.example/\", \"description\": \"S\"}",
            "1. T\n   https://a.example/\n   S",
            "1. T\nhref https://a.example/\nS\n\n",
        ] {
            let Found::Hits(hits) = read(text) else {
                panic!("{text}: {:?}", read(text))
            };
            assert_eq!(
                hits,
                [Hit::new("T", "https://a.example/", "S").unwrap()],
                "{text}"
            );
        }
        assert_eq!(read(" \n"), Found::Nothing);
        assert_eq!(read("[]"), Found::Nothing);
        for text in ["no addresses here", "[1, 2]", "[{\"a\": 1}]", "3", "\"x\""] {
            assert!(matches!(read(text), Found::Changed(_)), "{text}");
        }
    }
}
