//! What nobody should send and what no file should be: a plain answer in bounded time and memory.

use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::ffi::OsStringExt as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use cairn_agent::tool::ToolOutcome;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::{Value, json};

use super::fixture::{Project, done, refused};

/// The most memory that this process ever held, bytes.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

/// What a call costs: at most five seconds, which is the time limit of file tools, and that many bytes.
#[track_caller]
fn bounded(bytes: u64, call: impl FnOnce() -> ToolOutcome) -> ToolOutcome {
    let (before, start) = (peak(), Instant::now());
    let outcome = call();
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    let more = peak().saturating_sub(before);
    assert!(more <= bytes, "{more} bytes more");
    outcome
}

/// A call of every file tool with that path.
fn calls(path: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("read_file", json!({ "path": path })),
        ("write_file", json!({ "path": path, "content": "x" })),
        (
            "write_file",
            json!({ "path": path, "content": "x", "append": true }),
        ),
        (
            "edit_file",
            json!({ "path": path, "old_string": "a", "new_string": "b" }),
        ),
        (
            "multi_edit",
            json!({ "path": path, "edits": [{ "old_string": "a", "new_string": "b" }] }),
        ),
        ("move_file", json!({ "from": path, "to": "g" })),
        ("move_file", json!({ "from": "f", "to": path })),
        ("delete_file", json!({ "path": path })),
        ("make_dir", json!({ "path": path })),
    ]
}

#[test]
fn x29_f20_impossible_paths_are_refused_by_every_tool() {
    let project = Project::with("f", "a\n");
    done(&project.read("f"));
    let long = "x".repeat(5_000);
    let deep = "x/".repeat(2_500);
    for (path, says) in [
        ("", "the path is empty"),
        ("a\0b", "NUL"),
        (long.as_str(), "too long"),
        (deep.as_str(), "too long"),
        ("https://example.com/a", "is a URL"),
        ("file:///etc/passwd", "is a URL"),
        ("/proc/self/environ", "/proc and /dev are refused"),
        ("/dev/null", "/proc and /dev are refused"),
        ("f/deeper", "f is not a folder"),
    ] {
        for (tool, arguments) in calls(path) {
            let outcome = project.run(tool, arguments);
            assert!(
                !outcome.ok && outcome.content.contains(says),
                "{tool} {says}: {}",
                outcome.content
            );
            // A path of 5,000 characters is not told back.
            assert!(outcome.content.len() < 600, "{tool}: {}", outcome.content);
        }
    }
    assert_eq!(
        (project.text("f").as_str(), project.names()),
        ("a\n", vec!["f".to_owned()])
    );
}

#[test]
fn t10_pipes_sockets_and_devices_are_refused_at_once_by_every_tool() {
    let project = Project::with("f", "a\n");
    done(&project.read("f"));
    let node = |name: &str, kind, device| mknodat(CWD, project.path(name), kind, Mode::RUSR, device).is_ok();
    assert!(node("pipe", FileType::Fifo, 0));
    let _socket = std::os::unix::net::UnixListener::bind(project.path("socket")).unwrap();
    // Only root makes devices. This one is /dev/zero, which never ends.
    let device = node("device", FileType::CharacterDevice, rustix::fs::makedev(1, 5));
    for (path, is, there) in [
        ("pipe", "a named pipe (FIFO)", true),
        ("socket", "a socket", true),
        ("device", "a device", device),
    ] {
        for (tool, arguments) in calls(path).into_iter().filter(|_| there) {
            let outcome = bounded(16 << 20, || project.run(tool, arguments));
            let said = &outcome.content;
            let taken = tool == "move_file" && said.contains("is there already");
            assert!(!outcome.ok && (said.contains(is) || taken), "{tool}: {said}");
        }
    }
    assert_eq!(project.text("f"), "a\n");
}

#[test]
fn t10_gives_2000_lines_and_says_how_to_go_on() {
    let mut project = Project::with("f", "x\n".repeat(4_500));
    project.budget = 80_000;
    for (offset, footer) in [
        (1, "[Lines 1 to 2000 of 4500; go on with offset 2001.]"),
        (2_001, "[Lines 2001 to 4000 of 4500; go on with offset 4001.]"),
        (4_001, "[Lines 4001 to 4500 of 4500; this is the end.]"),
    ] {
        let outcome = project.run(
            "read_file",
            json!({ "path": "f", "offset": offset, "limit": 1_000_000 }),
        );
        done(&outcome);
        assert_eq!(outcome.content.lines().last(), Some(footer));
    }
    done(&project.write("f", "all of it was seen\n"));
}

#[test]
fn bad_input_one_line_of_200_mb() {
    let project = Project::new();
    {
        let mut file = std::io::BufWriter::new(std::fs::File::create(project.path("f")).unwrap());
        file.write_all(b"first\n").unwrap();
        let piece = vec![b'x'; 1_000_000];
        for _ in 0..200 {
            file.write_all(&piece).unwrap();
        }
        file.write_all(b"\nlast\n").unwrap();
    }
    refused(&bounded(24 << 20, || project.read("f")), "Give offset and limit");
    let outcome = bounded(24 << 20, || project.read_range("f", 1, 3));
    done(&outcome);
    assert!(
        outcome.content.contains("[cut: 199998001 more bytes]"),
        "{}",
        &outcome.content[2_000..]
    );
    assert!(
        outcome
            .content
            .contains("3\tlast\n[Lines 1 to 3 of a file of 200000012 bytes; this is the end.")
    );
    refused(&project.write("f", "x"), "never shown whole");
    // What it is and what it becomes are held, and no third copy; the journal of this test keeps what it was.
    let before = peak();
    done(&project.edit("f", "last", "the end"));
    let more = peak().saturating_sub(before);
    assert!(more <= (2 * 200_000_000) + (24 << 20), "{more} bytes more");
    let mut end = [0; 9];
    let mut file = std::fs::File::open(project.path("f")).unwrap();
    file.seek(SeekFrom::End(-9)).unwrap();
    file.read_exact(&mut end).unwrap();
    assert_eq!(&end, b"\nthe end\n");
}

/// Ends what looks at the flag when it goes.
struct Ending<'a>(&'a AtomicBool);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn t10_a_file_that_grows_while_it_is_read_is_answered() {
    let project = Project::with("f", "line\n".repeat(1_000));
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut file = std::fs::OpenOptions::new()
                .append(true)
                .open(project.path("f"))
                .unwrap();
            // It begins anew now and then: what is read each time stays small however slow the machine is.
            for line in 1.. {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                file.write_all(b"line\n").unwrap();
                if line % 100_000 == 0 {
                    file.set_len(5_000 + 5).unwrap();
                }
            }
        });
        // Also when something is wrong: else the other would write for ever.
        let _ending = Ending(&stop);
        for _ in 0..20 {
            let outcome = bounded(64 << 20, || project.read_range("f", 990, 20));
            assert!(
                outcome.ok && outcome.content.starts_with("990\tline\n"),
                "{}",
                outcome.content
            );
            let edit = project.edit("f", "no such text", "x");
            assert!(!edit.ok);
        }
    });
    // Whatever was seen of it on the way: what came since was not.
    project.put("f", "line\n".repeat(3));
    refused(&project.write("f", "x"), "it is not what you read");
}

#[test]
fn i1_x11_a_picture_that_claims_60000_by_60000_costs_nothing() {
    let side = 60_000_u32;
    let mut png = super::pictures::DOT.to_vec();
    png[16..20].copy_from_slice(&side.to_be_bytes());
    png[20..24].copy_from_slice(&side.to_be_bytes());
    let [high, low] = (side as u16).to_be_bytes();
    let jpeg = [
        0xFF, 0xD8, 0xFF, 0xC0, 0, 17, 8, high, low, high, low, 3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1,
    ];
    let gif = [
        b"GIF89a".as_slice(),
        &[low, high, low, high, 0x80, 0, 0, 0, 0, 0, 255, 255, 255, b';'],
    ]
    .concat();
    let edge = &(side - 1).to_le_bytes()[..3];
    let webp = [b"RIFF\x16\0\0\0WEBPVP8X\x0A\0\0\0\0\0\0\0".as_slice(), edge, edge].concat();
    let project = Project::new();
    for (name, bytes) in [
        ("a.png", png),
        ("b.jpg", jpeg.to_vec()),
        ("c.gif", gif),
        ("d.webp", webp),
    ] {
        project.put(name, bytes);
        // However much follows, none of it is read.
        let file = std::fs::File::options()
            .write(true)
            .open(project.path(name))
            .unwrap();
        file.set_len(28 << 20).unwrap();
        let outcome = bounded(16 << 20, || project.read(name));
        refused(&outcome, "60000 \u{d7} 60000");
        // The next call works.
        project.put("f", "one\n");
        done(&project.read("f"));
    }
}

#[test]
fn i2_a_picture_is_what_its_bytes_say() {
    let project = Project::with("photo.jpg", super::pictures::DOT);
    let outcome = project.read("photo.jpg");
    done(&outcome);
    let picture = &outcome.pictures[0];
    assert_eq!(
        (picture.media_type.as_str(), picture.sent_media_type.as_str()),
        ("image/png", "image/png")
    );
}

#[test]
fn f14_a_name_that_is_not_utf8_is_read_edited_moved_and_deleted() {
    let project = Project::new();
    let name = std::ffi::OsString::from_vec(b"bad\xff name.txt".to_vec());
    std::fs::write(project.path("").join(&name), "one\n").unwrap();
    let shown = "bad\\xff name.txt";
    done(&project.read(shown));
    done(&project.edit(shown, "one", "two"));
    assert_eq!(std::fs::read(project.path("").join(&name)).unwrap(), b"two\n");
    done(&project.multi_edit(shown, &[("two", "three")]));
    done(&project.move_file(shown, "good"));
    done(&project.delete("good"));
    assert!(project.names().is_empty());
}

#[test]
fn a_hole_is_read_up_to_the_stop() {
    let mut project = Project::new();
    let mut file = std::fs::File::create(project.path("f")).unwrap();
    file.write_all("text\n".repeat(4_000).as_bytes()).unwrap();
    file.set_len(1 << 34).unwrap();
    done(&project.read_range("f", 3_990, 5));
    // It is skipped on the way to the first line, and it is a line.
    for first in [4_500, 4_001] {
        project.cancel = tokio_util::sync::CancellationToken::new();
        let cancel = project.cancel.clone();
        let stopping = std::thread::spawn(move || {
            std::thread::park_timeout(Duration::from_millis(300));
            cancel.cancel();
        });
        let start = Instant::now();
        let outcome = project.read_range("f", first, 5);
        assert!(outcome.stopped && !outcome.ok);
        // The thread that reads has ended as well: the runtime waits for it.
        assert!(
            start.elapsed() < Duration::from_secs(3),
            "{first}: {:?}",
            start.elapsed()
        );
        stopping.join().unwrap();
    }
}
