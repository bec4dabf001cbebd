//! Stop and the time limit: a search closes within 100 ms. SPEC T2.

use std::time::{Duration, Instant};

use cairn_agent::tool::Tool;
use serde_json::{Value, json};

use super::fixture::{Project, execute, runtime};

/// Runs the call and cancels it after a moment; how long it took to close then.
fn stop_after(project: &Project, tool: &dyn Tool, arguments: Value, moment: Duration) -> (Duration, bool) {
    let prepared = project.prepare(tool, arguments).unwrap();
    let context = project.context();
    let cancel = context.cancel.clone();
    runtime().block_on(async move {
        let call = execute(prepared).execute(context);
        tokio::pin!(call);
        let early = tokio::select! {
            outcome = &mut call => Some(outcome),
            () = tokio::time::sleep(moment) => None,
        };
        if let Some(outcome) = early {
            return (Duration::ZERO, outcome.ok);
        }
        cancel.cancel();
        let begun = Instant::now();
        let outcome = call.await;
        (begun.elapsed(), outcome.ok)
    })
}

#[test]
fn t2_a_stopped_search_closes_within_100_ms() {
    let project = Project::new();
    // One line without an end, so that nothing is found before all of it is read.
    project.write("huge.txt", vec![b'x'; 60 << 20]);
    let slow = json!({"pattern": "(x+x+)+y", "path": "huge.txt"});
    let mut quickest = Duration::MAX;
    for moment in [0, 1, 20] {
        let (took, ok) = stop_after(
            &project,
            &project.grep(),
            slow.clone(),
            Duration::from_millis(moment),
        );
        assert!(!ok, "it was over before it could be stopped");
        quickest = quickest.min(took);
    }
    // The quickest: a machine that is busy with other tests keeps any one of them waiting.
    assert!(quickest < Duration::from_millis(100), "{quickest:?}");
}

#[test]
fn t2_a_stopped_walk_closes_within_100_ms() {
    let project = Project::new();
    for number in 0..3_000 {
        project.write(&format!("part{}/file{number}.txt", number / 100), "some text\n");
    }
    for (tool, arguments) in [
        (&project.grep() as &dyn Tool, json!({"pattern": "nothing"})),
        (&project.glob(), json!({"pattern": "*"})),
    ] {
        let mut quickest = Duration::MAX;
        for _ in 0..5 {
            let (took, ok) = stop_after(&project, tool, arguments.clone(), Duration::ZERO);
            assert!(!ok, "it was over before it could be stopped");
            quickest = quickest.min(took);
        }
        assert!(quickest < Duration::from_millis(100), "{quickest:?}");
    }
}

#[test]
fn a_call_that_was_stopped_before_it_began_does_nothing_wrong() {
    let project = Project::with(&["a.txt"]);
    for (tool, arguments) in [
        (&project.grep() as &dyn Tool, json!({"pattern": "a"})),
        (&project.glob(), json!({"pattern": "*"})),
        (&project.list_dir(), json!({})),
    ] {
        let prepared = project.prepare(tool, arguments).unwrap();
        let context = project.context();
        context.cancel.cancel();
        runtime().block_on(execute(prepared).execute(context));
    }
}

#[test]
fn dropping_a_search_ends_its_threads() {
    let project = Project::new();
    project.write("huge.txt", vec![b'x'; 30 << 20]);
    let prepared = project
        .prepare(
            &project.grep(),
            json!({"pattern": "(x+x+)+y", "path": "huge.txt"}),
        )
        .unwrap();
    let context = project.context();
    let runtime = runtime();
    runtime.block_on(async {
        let call = execute(prepared).execute(context);
        assert!(
            tokio::time::timeout(Duration::from_millis(5), call)
                .await
                .is_err()
        );
    });
    // Ends only when the blocking thread does.
    let begun = Instant::now();
    drop(runtime);
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}
