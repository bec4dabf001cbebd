//! What a command within its walls costs beside one without: `./dev bench sandbox`.
//!
//! Measured is `true` from the walls being described, which looks through the project, until its end is known; the
//! layers take turns, so that a busy machine is busy for all of them.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a measurement may fail loudly and prints its figures"
)]

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cairn_exec::{
    CommandSpec, HelperProgram, Layer, Network, Processes, Program, Shell, Walls, child_environment,
    helper_main,
};
use cairn_policy::{Looked, Places};
use cairn_tools::bounds::Bounds;
use tokio_util::sync::CancellationToken;

/// The projects: folders with ten files each, and commands of each kind.
const PROJECTS: &[(&str, usize, usize)] = &[
    ("a small project (20 folders, 200 files)", 20, 200),
    ("a large project (10,000 folders, 100,000 files)", 10_000, 60),
];

fn main() -> ExitCode {
    if let Some(code) = helper_main(std::env::args_os()) {
        return code;
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(measure());
    ExitCode::SUCCESS
}

async fn measure() {
    let processes = Processes::new(HelperProgram::this_program());
    let since = Instant::now();
    let walls = processes.walls().await;
    println!(
        "the trial of the walls: {:.1} ms; {walls:?}",
        milliseconds(since.elapsed())
    );
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    for &(name, folders, runs) in PROJECTS {
        let project = folder.join(folders.to_string());
        make(&project, folders);
        println!("{name}:");
        compare(&processes, &walls, &project, &folder, runs).await;
    }
    processes.shutdown().await;
}

async fn compare(processes: &Processes, walls: &Walls, project: &Path, folder: &Path, runs: usize) {
    let places = Places {
        root: project.to_owned(),
        home: std::env::home_dir(),
        own: vec![folder.join("own")],
    };
    let bounds = |layer: Layer| {
        let walls = Walls {
            layer: Some(layer),
            gaps: Vec::new(),
            why_not: Vec::new(),
        };
        Arc::new(
            Bounds::new(&walls, &places, &folder.join("own"))
                .unwrap()
                .unwrap(),
        )
    };
    let mut kinds = vec![("none", None), ("Landlock", Some(bounds(Layer::Landlock)))];
    if let Some(layer @ Layer::Bubblewrap(_)) = &walls.layer {
        kinds.push(("bubblewrap", Some(bounds(layer.clone()))));
    }
    let mut looks = Vec::new();
    if let Some((_, Some(bounds))) = kinds.last() {
        looks.extend((0..runs).map(|_| {
            let since = Instant::now();
            let (_, found) = bounds.around_command(Network::Off);
            assert_eq!(*found.looked(), Looked::Whole);
            since.elapsed()
        }));
        tell("one look", &mut looks);
    }
    let mut taken: Vec<Vec<Duration>> = vec![Vec::new(); kinds.len()];
    for _ in 0..runs {
        for ((_, bounds), taken) in kinds.iter().zip(&mut taken) {
            let since = Instant::now();
            run(processes, bounds.as_deref(), project).await;
            taken.push(since.elapsed());
        }
    }
    for ((kind, _), taken) in kinds.iter().zip(&mut taken) {
        tell(kind, taken);
    }
}

fn tell(kind: &str, taken: &mut [Duration]) {
    taken.sort();
    let at = |part: usize| milliseconds(taken.get(taken.len() * part / 100).copied().unwrap_or_default());
    println!("  {kind:<11} median {:6.2} ms   p95 {:6.2} ms", at(50), at(95));
}

async fn run(processes: &Processes, bounds: Option<&Bounds>, project: &Path) {
    let mut spec = CommandSpec {
        program: Program::Line {
            shell: Shell::find(None),
            line: "true".to_owned(),
        },
        workdir: project.to_owned(),
        environment: child_environment(std::env::vars_os(), &[]),
        limit: None,
        cancel: CancellationToken::new(),
        walls: None,
    };
    let mut before = None;
    if let Some(bounds) = bounds {
        let (walls, found) = bounds.around_command(Network::Off);
        spec.environment = bounds.environment(&spec.environment, Network::Off);
        spec.walls = Some(walls);
        before = Some(found);
    }
    let finished = processes.run(spec, |_| {}).await.unwrap();
    assert_eq!(
        finished.end,
        cairn_protocol::CommandEnd::Exited { code: 0 },
        "{}",
        finished.output.text()
    );
    if let (Some(bounds), Some(found)) = (bounds, before) {
        assert!(bounds.set_aside(&found, &|_| false).is_empty());
    }
}

fn make(project: &Path, folders: usize) {
    for number in 0..folders {
        let folder: PathBuf = project.join(format!("{}/{}", number % 50, number));
        std::fs::create_dir_all(&folder).unwrap();
        for file in 0..10 {
            std::fs::write(folder.join(format!("file{file}.rs")), "").unwrap();
        }
    }
    std::fs::create_dir_all(project.join(".git/hooks")).unwrap();
    std::fs::write(project.join(".git/config"), "").unwrap();
    std::fs::write(project.join(".env"), "").unwrap();
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
