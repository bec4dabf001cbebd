use cairn_agent::tool::Action;
use cairn_protocol::Ask;
use serde_json::{Value, json};

use super::prepare;

fn asks(value: &Value) -> Result<Vec<Ask>, String> {
    let prepared = prepare(value.as_object().cloned().unwrap()).map_err(|error| error.message)?;
    match prepared.action {
        Action::Ask(asks) => Ok(asks),
        Action::Execute(_) => panic!("it must ask"),
    }
}

fn question(options: &Value) -> Value {
    json!({"questions": [{"question": "Which?", "options": options}]})
}

#[test]
fn t30_takes_one_to_four_questions_with_two_to_nine_options() {
    let asks = asks(&json!({"questions": [
        {"question": " Which\nway? ", "options": [{"label": "left", "description": "shorter"}, "right"]},
        {"question": "Which colours?", "options": ["red", "green", "blue"], "multiple": "true"},
    ]}))
    .unwrap();
    assert_eq!(asks.len(), 2);
    assert_eq!(asks[0].text, "Which\nway?");
    assert_eq!(asks[0].options[0].description, "shorter");
    assert_eq!(asks[0].options[1].label, "right");
    assert!(!asks[0].multiple);
    assert!(asks[1].multiple);
}

#[test]
fn t30_refuses_what_cannot_be_shown() {
    let ten: Vec<String> = (0..10).map(|n| format!("option {n}")).collect();
    let one = json!({"question": "Which?", "options": ["a", "b"]});
    for (arguments, says) in [
        (
            json!({}),
            "`questions` is missing: an array of objects with `question`, `options`",
        ),
        (json!({"questions": []}), "0 questions were put"),
        (
            json!({"questions": [one, one, one, one, one]}),
            "5 questions were put; send 1 to 4",
        ),
        (
            json!({"questions": [{"question": "Which?"}]}),
            "`questions[1].options` is missing",
        ),
        (
            json!({"questions": [{"question": " ", "options": ["a", "b"]}]}),
            "Question 1 is empty",
        ),
        (
            json!({"questions": [{"question": "é".repeat(2_001), "options": ["a", "b"]}]}),
            "longer than 2000",
        ),
        (question(&json!([])), "Question 1 has 0 options"),
        (
            question(&json!(["a"])),
            "Question 1 has 1 options; it needs 2 to 9",
        ),
        (question(&json!(ten)), "Question 1 has 10 options"),
        (
            question(&json!(["a", "  "])),
            "Option 2 of question 1 has no label",
        ),
        (question(&json!(["a", " a "])), "has the option \"a\" twice"),
        (
            question(&json!(["a", "é".repeat(301)])),
            "Option 2 of question 1 is longer than 300",
        ),
        (
            question(&json!(["a", 7])),
            "`questions[1].options[2]` must be an object with `label`, but is 7",
        ),
    ] {
        let message = asks(&arguments).unwrap_err();
        assert!(message.contains(says), "{arguments}: {message}");
    }
}

#[test]
fn the_card_shows_the_first_question_and_how_many_follow() {
    let two = json!({"questions": [
        {"question": "Which\nway?", "options": ["a", "b"]}, {"question": "How?", "options": ["a", "b"]}
    ]});
    let prepared = prepare(two.as_object().cloned().unwrap()).unwrap();
    assert_eq!(
        (prepared.title.as_str(), prepared.target.as_str()),
        ("Ask", "Which way? (and 1 more)")
    );
    assert_eq!(prepared.effects, [cairn_policy::Effect::Own]);
}
