//! What a change keeps: owner, mode, attributes, the link; and what it tells apart.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};

use cairn_policy::{Effect, Place};
use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, XattrFlags, utimensat};
use serde_json::json;

use super::fixture::{Project, done, refused};

fn seen(content: impl AsRef<[u8]>) -> Project {
    let project = Project::with("f", content);
    done(&project.read("f"));
    project
}

#[test]
fn x26_two_contents_of_one_second_and_one_size_are_told_apart() {
    let project = seen("one\n");
    let times = {
        let at = std::fs::metadata(project.path("f")).unwrap();
        let time = Timespec {
            tv_sec: at.mtime(),
            tv_nsec: at.mtime_nsec() as _,
        };
        Timestamps {
            last_access: time,
            last_modification: time,
        }
    };
    let prepared = project
        .prepare(
            "edit_file",
            json!({ "path": "f", "old_string": "one", "new_string": "two" }),
        )
        .unwrap();
    project.put("f", "0ne\n");
    utimensat(CWD, project.path("f"), &times, AtFlags::empty()).unwrap();
    refused(&project.execute(prepared), "changed by something else meanwhile");
    refused(&project.edit("f", "0ne", "two"), "it is not what you read");
    refused(&project.write("f", "two"), "it is not what you read");
    refused(&project.delete("f"), "it is not what you read");
    assert_eq!(project.text("f"), "0ne\n");
}

#[test]
fn x27_t17_mode_owner_group_and_attributes_stay_over_every_change() {
    let project = seen("one\ntwo\n");
    let path = project.path("f");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o751)).unwrap();
    // Only root gives files away; for everybody else it stays their own.
    let given = chown(&path, Some(12_345), Some(54_321)).is_ok();
    let file = std::fs::File::open(&path).unwrap();
    let marked = rustix::fs::fsetxattr(&file, "user.mark", b"kept", XattrFlags::empty()).is_ok();
    drop(file);
    done(&project.edit("f", "one", "1"));
    done(&project.multi_edit("f", &[("1", "one"), ("two", "2")]));
    done(&project.append("f", "three\n"));
    done(&project.write("f", "all of it\n"));
    done(&project.move_file("f", "d/g"));
    let file = std::fs::File::open(project.path("d/g")).unwrap();
    let now = file.metadata().unwrap();
    assert_eq!(now.mode() & 0o7777, 0o751);
    if given {
        assert_eq!((now.uid(), now.gid()), (12_345, 54_321));
    }
    if marked {
        let mut value = [0; 16];
        let length = rustix::fs::fgetxattr(&file, "user.mark", &mut value[..]).unwrap();
        assert_eq!(&value[..length], b"kept");
    }
    assert_eq!(project.text("d/g"), "all of it\n");
}

#[test]
fn x28_an_edit_through_a_link_that_leads_out_is_declared_as_outside() {
    let project = Project::new();
    std::fs::write(project.outside("x"), "one\n").unwrap();
    symlink(project.outside("x"), project.path("link")).unwrap();
    let read = project.prepare("read_file", json!({ "path": "link" })).unwrap();
    done(&project.execute(read));
    for (tool, arguments) in [
        (
            "edit_file",
            json!({ "path": "link", "old_string": "one", "new_string": "two" }),
        ),
        (
            "multi_edit",
            json!({ "path": "link", "edits": [{ "old_string": "one", "new_string": "two" }] }),
        ),
        ("write_file", json!({ "path": "link", "content": "two" })),
    ] {
        let prepared = project.prepare(tool, arguments).unwrap();
        let [Effect::WritePath { path, place, .. }] = prepared.effects.as_slice() else {
            panic!("{:?}", prepared.effects)
        };
        assert_eq!((path, *place), (&project.outside("x"), Place::Outside));
        assert_eq!(prepared.target, project.outside("x").to_string_lossy());
    }
    refused(&project.delete("link"), "outside the project");
}

#[test]
fn f08_every_change_of_a_hard_linked_file_says_so() {
    let project = seen("one\n");
    std::fs::hard_link(project.path("f"), project.path("other")).unwrap();
    for (tool, arguments) in [
        (
            "edit_file",
            json!({ "path": "f", "old_string": "one", "new_string": "two" }),
        ),
        (
            "multi_edit",
            json!({ "path": "f", "edits": [{ "old_string": "one", "new_string": "two" }] }),
        ),
        ("write_file", json!({ "path": "f", "content": "two" })),
        (
            "write_file",
            json!({ "path": "f", "content": "two", "append": true }),
        ),
        ("delete_file", json!({ "path": "f" })),
    ] {
        let prepared = project.prepare(tool, arguments).unwrap();
        assert!(
            matches!(
                prepared.effects.as_slice(),
                [Effect::WritePath {
                    hard_linked: true,
                    ..
                }]
            ),
            "{tool}: {:?}",
            prepared.effects
        );
    }
}

#[test]
fn e1_replacement_text_is_literal_through_the_tool() {
    for new in [
        "log(\"$& ok\");",
        "$$100",
        "$1",
        "`$`",
        "x$'y",
        "\\0",
        "\\1",
        "${a}",
        "\\n",
    ] {
        let project = seen("log(\"done\");\n");
        done(&project.edit("f", "log(\"done\");", new));
        assert_eq!(project.text("f"), format!("{new}\n"));
    }
}

#[test]
fn e4_e5_e11_tabs_line_ends_and_the_next_indent_stay() {
    let project = seen("a\nb\n");
    done(&project.edit("f", "a\r\nb", "A\r\nB"));
    assert_eq!(project.text("f"), "A\nB\n");
    let project = seen("void f()\r\n{\r\n\t\tone();\r\n\t\t\ttwo();\r\n}\r\n");
    done(&project.edit("f", "{\n\t\tone();\n\t\t\ttwo();", "{\n\t\tboth();"));
    assert_eq!(project.text("f"), "void f()\r\n{\r\n\t\tboth();\r\n}\r\n");
    let project = seen("if ok:\n  foo()\n  bar()\n");
    refused(
        &project.edit("f", "    foo()\n", "    baz()\n"),
        "differs in the space at its start",
    );
    assert_eq!(project.text("f"), "if ok:\n  foo()\n  bar()\n");
}
