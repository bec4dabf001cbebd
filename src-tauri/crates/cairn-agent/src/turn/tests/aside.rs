//! What a provider refuses: found, set aside, and the rest sent once more.

use std::collections::BTreeSet;

use cairn_protocol::{AsidePart, Mark, Picture};
use proptest::prelude::*;

use super::*;
use crate::history;
use crate::model::{Objection, PictureFault, Rejected};

fn refusal(what: Objection) -> ModelError {
    ModelError {
        rejected: Some(Box::new(Rejected { what, at: None })),
        ..ModelError::fatal(ErrorCode::ModelRejected, "400: something is invalid")
    }
}

fn refused(what: Objection, item: Option<&str>) -> Input {
    Input::Refused {
        error: refusal(what),
        item: item.map(Into::into),
    }
}

impl Bench {
    fn marks(&self) -> Vec<(String, Mark)> {
        let snapshot = self.machine.log().snapshot(self.machine.meter(), Activity::Idle);
        snapshot
            .marks
            .into_iter()
            .map(|marked| (marked.item.0, marked.mark))
            .collect()
    }

    /// Plays a server that refuses whatever holds one of these items and never says which; gives how often it was asked.
    fn play(&mut self, mut effects: Vec<Effect>, culprits: &BTreeSet<String>) -> usize {
        let mut asked = 0;
        loop {
            let probes = effects.iter().find_map(|effect| match effect {
                Effect::Probe { without } => Some(without.clone()),
                Effect::AskModel => Some(Vec::new()),
                _ => None,
            });
            let is_probe = effects
                .iter()
                .any(|effect| matches!(effect, Effect::Probe { .. }));
            let Some(without) = probes else { return asked };
            asked += 1;
            assert!(asked < 200, "it goes round in circles");
            let context = self.machine.log().context();
            let bad = context.items.iter().any(|item| {
                culprits.contains(&item.id.0) && context.mark(item).is_none() && !without.contains(&item.id)
            });
            if bad {
                effects = self.tell(refused(Objection::Unknown, None));
            } else if is_probe {
                effects = self.tell(Input::Model(ModelEvent::Text("probed".to_owned())));
            } else {
                self.text("ok");
                self.end(FinishReason::Stop);
                return asked;
            }
        }
    }

    /// Answers without trouble.
    fn answered(&mut self, text: &str) {
        self.send(text);
        self.text("fine");
        self.end(FinishReason::Stop);
    }

    fn shown(&self) -> String {
        format!("{:?}", self.machine.log().items())
    }
}

fn with_picture(name: &str) -> ToolOutcome {
    ToolOutcome {
        pictures: vec![Picture {
            blob: "b".into(),
            sent: "b".into(),
            media_type: "image/png".to_owned(),
            sent_media_type: "image/png".to_owned(),
            name: name.to_owned(),
            width: 10,
            height: 10,
            bytes: 10,
        }],
        ..ToolOutcome::ok("a picture")
    }
}

#[test]
fn m8_what_the_server_names_is_set_aside_and_the_rest_is_sent_once_more() {
    for what in [
        Objection::Unknown,
        Objection::Shape,
        Objection::Pairing { call: None },
    ] {
        let mut bench = Bench::new();
        bench.send("one");
        let item = bench.machine.log().items()[0].id.clone();
        let effects = bench.tell(refused(what.clone(), Some(item.as_str())));
        assert!(asks_model(&effects), "{what:?}: {effects:?}");
        let marks = bench.marks();
        let [(marked, Mark::SetAside { part, reason })] = marks.as_slice() else {
            panic!("{what:?}: {marks:?}")
        };
        assert_eq!((marked.as_str(), *part), (item.as_str(), AsidePart::Whole));
        assert!(reason.contains("something is invalid"), "{reason}");
        assert!(
            bench
                .shown()
                .contains("refused by the model's server and set aside")
        );
        bench.text("ok");
        bench.end(FinishReason::Stop);
        assert_eq!(bench.outcome(), Some(TurnOutcome::Done));
    }
}

#[test]
fn m8_what_is_not_about_the_conversation_is_said_and_sets_nothing_aside() {
    for what in [
        Objection::Parameter("temperature".to_owned()),
        Objection::Tool { name: None },
    ] {
        let mut bench = Bench::new();
        bench.send("one");
        let effects = bench.tell(refused(what.clone(), None));
        assert!(!asks_model(&effects), "{what:?}");
        assert!(matches!(bench.outcome(), Some(TurnOutcome::Failed { .. })));
        assert_eq!(bench.marks(), []);
    }
}

#[test]
fn m8_a_request_that_is_refused_whatever_is_left_out_keeps_all_of_it() {
    let mut bench = Bench::new();
    bench.answered("one");
    let mut effects = bench.send("two");
    for _ in 0..2 {
        assert!(!effects.is_empty());
        effects = bench.tell(refused(Objection::Unknown, None));
    }
    assert!(
        matches!(bench.outcome(), Some(TurnOutcome::Failed { .. })),
        "{:?}",
        bench.outcome()
    );
    assert_eq!(bench.marks(), []);
    assert!(asks_model(&bench.send("three")), "the session goes on");
}

#[test]
fn m8_a_lost_connection_while_it_searches_sets_nothing_aside() {
    let mut bench = Bench::new();
    for text in ["one", "two"] {
        bench.send(text);
        bench.tell(Input::Stop);
    }
    bench.send("three");
    bench.tell(refused(Objection::Unknown, None));
    bench.tell(Input::Model(ModelEvent::Text("taken".to_owned())));
    bench.tell(Input::ModelFailed(ModelError::passing(
        ErrorCode::ModelServer,
        "connection reset",
    )));
    assert!(matches!(bench.outcome(), Some(TurnOutcome::Failed { .. })));
    assert_eq!(bench.marks(), []);
    assert!(
        !bench.shown().contains("taken"),
        "what a probe says is nobody's answer"
    );
}

#[test]
fn stop_ends_the_search() {
    let mut bench = Bench::new();
    bench.answered("one");
    bench.machine.accepted = 0;
    bench.send("two");
    bench.tell(refused(Objection::Unknown, None));
    assert!(bench.tell(Input::Stop).contains(&Effect::DropModel));
    assert_eq!(bench.outcome(), Some(TurnOutcome::Stopped));
}

#[test]
fn m8_reasoning_of_another_provider_goes_whichever_is_meant() {
    let mut bench = Bench::new();
    bench.send("one");
    let data = || cairn_protocol::ReasoningData {
        origin: "elsewhere".to_owned(),
        json: "{}".to_owned(),
    };
    for _ in 0..2 {
        bench.tell(Input::Model(ModelEvent::Thinking("hm".to_owned())));
        bench.tell(Input::Model(ModelEvent::Reasoning(data())));
    }
    bench.text("ok");
    bench.end(FinishReason::Stop);
    bench.send("two");
    assert!(asks_model(&bench.tell(refused(Objection::Reasoning, None))));
    assert_eq!(bench.marks().len(), 2);
    let sent = format!(
        "{:?}",
        history::messages(
            &bench.machine.log().context(),
            &[],
            &std::collections::HashMap::default()
        )
    );
    assert!(!sent.contains("Reasoning("), "{sent}");
    assert!(bench.shown().contains("hm"), "the words stay to be read");
}

#[test]
fn i3_pictures_are_set_aside_by_what_is_wrong_with_them() {
    for (fault, named, aside) in [
        (PictureFault::TooLarge, Some(1), vec![1]),
        (PictureFault::TooMany, None, vec![0, 1]),
        (PictureFault::Unsupported, None, vec![0, 1, 2]),
        // Of those that the server had taken none is at fault: only the last one is new.
        (PictureFault::Unreadable, None, vec![2]),
        (PictureFault::Unknown, None, vec![2]),
    ] {
        let mut bench = Bench::new();
        bench.send("look");
        for n in 0..3 {
            let id = format!("c{n}");
            bench.call(&id, "read_file", &format!("{{\"n\":{n}}}"));
            bench.end(FinishReason::Stop);
            bench.prepared(&id, read(), "d");
            bench.done(&id, with_picture(&id));
        }
        let of = |n: usize| {
            let items = bench.machine.log().items();
            let item = items.iter().find(
                |item| matches!(&item.body, ItemBody::Tool(tool) if tool.call.as_str() == format!("c{n}")),
            );
            item.unwrap().id.0.clone()
        };
        let ids: Vec<String> = (0..3).map(of).collect();
        let input = refused(Objection::Picture(fault), named.map(|n: usize| ids[n].as_str()));
        assert!(asks_model(&bench.tell(input)), "{fault:?}");
        let marks = bench.marks();
        let marked: Vec<_> = marks
            .iter()
            .map(|(id, _)| ids.iter().position(|known| known == id).unwrap())
            .collect();
        assert_eq!(marked, aside, "{fault:?}");
        let pictures = |(_, mark): &(String, Mark)| {
            matches!(
                mark,
                Mark::SetAside {
                    part: AsidePart::Pictures,
                    ..
                }
            )
        };
        assert!(marks.iter().all(pictures), "the words of a result stay");
    }
}

#[test]
fn a_server_that_tells_how_much_fits_is_believed() {
    let mut bench = Bench::of_window(64_000, None);
    bench.answered("one");
    bench.send("two");
    let limit = Some(8_192);
    let error = ModelError {
        rejected: refusal(Objection::TooLong { sent: None, limit }).rejected,
        ..ModelError::fatal(ErrorCode::TooLong, "400: too long")
    };
    bench.tell(Input::Refused { error, item: None });
    assert_eq!(bench.machine.meter().window, Some(8_192));
    assert!(bench.shown().contains("holds 8192 tokens"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    /// Whatever the server refuses without saying what, exactly that is set aside and the request ends well.
    #[test]
    fn m8_by_halving_exactly_what_is_at_fault_is_set_aside(
        before in 0usize..30, bad in prop::collection::btree_set(0usize..60, 0..4), restarted: bool
    ) {
        let mut bench = Bench::new();
        for n in 0..before {
            bench.answered(&format!("message {n}"));
        }
        if restarted {
            bench.machine.accepted = 0;
        }
        let effects = bench.send("the last");
        let fresh = bench.machine.accepted;
        let items = bench.machine.log().items();
        let culprits: BTreeSet<String> = bad
            .into_iter()
            .filter(|at| *at >= fresh)
            .filter_map(|at| items.get(at))
            .map(|item| item.id.0.clone())
            .collect();
        let suspects = items.len() - fresh;
        let asked = bench.play(effects, &culprits);
        prop_assert_eq!(bench.outcome(), Some(TurnOutcome::Done));
        let aside: BTreeSet<String> = bench.marks().into_iter().map(|(item, _)| item).collect();
        prop_assert_eq!(&aside, &culprits);
        let halvings = usize::BITS - suspects.leading_zeros();
        prop_assert!(asked <= 1 + culprits.len() * (2 + halvings as usize), "{} for {}", asked, suspects);
        prop_assert!(!bench.shown().contains("probed"));
    }
}
