//! Files and folders that become links while they are searched.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::json;

use super::fixture::Project;

#[test]
fn a_link_put_in_the_place_of_what_is_searched_leads_nowhere() {
    let project = Project::with(&["sub/deep/a.txt", "b.txt", "c/.ignore"]);
    project.write("c/d.txt", "plain\n");
    project.write_outside("a.txt", "CANARY\n");
    project.write_outside("deep/a.txt", "CANARY\n");
    project.link("folder", project.outside(""));
    project.link("file", project.outside("a.txt"));
    let over = AtomicBool::new(false);
    let swaps = AtomicUsize::new(0);
    let swap = |one: &str, other: &str| {
        let (one, other) = (project.path(one), project.path(other));
        renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).unwrap();
        swaps.fetch_add(1, Ordering::Relaxed);
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                swap("sub", "folder");
                swap("b.txt", "file");
            }
        });
        while swaps.load(Ordering::Relaxed) == 0 {
            std::thread::yield_now();
        }
        for _ in 0..100 {
            let outcome = project.run(&project.grep(), json!({"pattern": "CANARY"}));
            assert!(outcome.content.starts_with("No match"), "{}", outcome.content);
        }
        over.store(true, Ordering::Relaxed);
    });
    assert!(swaps.load(Ordering::Relaxed) > 10, "{swaps:?}");
}
