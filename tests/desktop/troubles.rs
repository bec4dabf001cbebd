//! Everything that can be wrong from outside, in the real window: a plain message, a way on, and nothing lost.

use std::path::{Path, PathBuf};

use cairn_testkit::provider::{Reply, Script};
use tempfile::TempDir;

use crate::app::{App, COMPOSER, Setup, button, config};

/// Rights hold for this user, too: the superuser's way around them is taken away.
fn without_override(_home: &Path) -> Vec<String> {
    let rights = "--bounding-set=-dac_override,-dac_read_search";
    ["setpriv", rights].map(str::to_owned).to_vec()
}

fn at(folder: PathBuf) -> Setup {
    Setup {
        folder: Some(folder),
        ..Setup::new(vec![Reply::text("Here I am.")])
    }
}

fn rights(folder: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// After what was wrong is mended, one click leads into the project.
fn try_again(app: &App) {
    crate::closing::press(app, "Try again");
    crate::driver::until("the project's own window", || {
        let windows = app.driver.windows();
        let [window] = windows.as_slice() else {
            return Err(format!("{} windows", windows.len()));
        };
        app.driver.switch(window);
        app.driver.find(COMPOSER).map(drop)
    });
}

#[test]
fn a_missing_folder_is_said_and_found_once_it_is_there() {
    let temp = TempDir::new().unwrap();
    let folder = temp.path().join("later");
    let app = App::start_with(at(folder.clone()));
    app.shows(&["There is no folder", "later", "make the folder first"]);
    app.shot("h-missing-folder");
    std::fs::create_dir(&folder).unwrap();
    try_again(&app);
}

#[test]
fn a_file_as_argument_is_said_with_its_folder() {
    let temp = TempDir::new().unwrap();
    let file = temp.path().join("notes.md");
    std::fs::write(&file, "# Notes").unwrap();
    let app = App::start_with(at(file.clone()));
    app.shows(&["is a file", &format!("for example {}", temp.path().display())]);
    assert_eq!(std::fs::read_to_string(file).unwrap(), "# Notes");
}

#[test]
fn an_unreadable_folder_is_said_and_opens_once_it_can_be_read() {
    let temp = TempDir::new().unwrap();
    let folder = temp.path().join("shut");
    std::fs::create_dir(&folder).unwrap();
    rights(&folder, 0o000);
    let app = App::start_with(Setup {
        before: Box::new(without_override),
        ..at(folder.clone())
    });
    app.shows(&["Could not", "shut", "Check its permissions"]);
    rights(&folder, 0o755);
    try_again(&app);
}

#[test]
fn a_read_only_data_folder_is_said_and_works_once_it_can_be_written() {
    let app = App::start_with(Setup {
        before: Box::new(|home| {
            rights(home, 0o500);
            without_override(home)
        }),
        ..Setup::new(vec![Reply::text("Here I am.")])
    });
    app.shows(&[app.home.path().to_str().unwrap(), "ermission"]);
    app.shot("h-read-only-data");
    rights(app.home.path(), 0o700);
    try_again(&app);
    app.say("Hello");
    app.shows(&["Here I am."]);
}

#[test]
fn a_folder_without_git_opens_and_says_no_branch() {
    let app = App::start_with(Setup::new(vec![Reply::text("Here I am.")]));
    app.say("Hello");
    app.shows(&["Here I am."]);
    let header = app
        .driver
        .run("return document.querySelector('header').innerText");
    let name = app.project.root().file_name().unwrap().to_str().unwrap();
    let header = header.as_str().unwrap();
    assert!(header.contains(name) && !header.contains("main"), "{header}");
    assert!(!app.project.root().join(".git").exists(), "and nothing made one");
}

#[test]
fn an_unreachable_model_is_said_with_its_address_and_tried_again() {
    let setup = Setup {
        config: Box::new(|_| config("http://127.0.0.1:9/v1", "")),
        ..Setup::new(vec![])
    };
    let app = App::start_with(setup);
    app.say("Hello");
    app.shows(&["127.0.0.1:9", "connection refused", "Retry now"]);
    app.shot("h-unreachable");
    app.driver.click(&button("Stop"));
    app.shows(&["Hello", "Stopped"]);
}

#[test]
fn a_wrong_key_is_said_and_the_message_stays() {
    let replies = vec![
        Reply::error(401, "Incorrect API key provided"),
        Reply::text("Now it works."),
    ];
    let app = App::start_with(Setup::new(replies));
    app.say("Hello");
    app.shows(&["key", "Incorrect API key provided", "Hello"]);
    app.shot("h-wrong-key");
    app.driver.click(&button("Retry"));
    app.shows(&["Now it works."]);
}

#[test]
fn html_where_json_was_expected_is_said_with_the_address() {
    let page = "<!doctype html><html><head><title>Welcome</title></head><body><script>alert(1)</script></body></html>";
    let app = App::start_with(Setup::new(vec![Reply::body(200, "text/html", page)]));
    app.say("Hello");
    app.shows(&["web page", "127.0.0.1", "Hello"]);
    app.shot("h-html");
}

#[test]
fn a_broken_configuration_is_said_with_its_place_and_never_overwritten() {
    let broken = "default_profile = \"x\"\n[profiles.x\nmodel = 3\n";
    let app = App::start_with(Setup {
        config: Box::new(move |_| broken.to_owned()),
        ..Setup::new(vec![])
    });
    app.shows(&["config.toml", ":2:"]);
    app.shot("h-broken-config");
    let kept = std::fs::read_to_string(app.home.path().join("config.toml")).unwrap();
    assert_eq!(kept, broken);
}

#[test]
fn a_full_disk_is_said_and_what_was_there_stays() {
    let small = |home: &Path| {
        let script = r#"cp "$0/config.toml" /dev/shm/cairn-config.$$ && mount -t tmpfs -o size=6m,mode=700 tmpfs "$0" \
            && mv /dev/shm/cairn-config.$$ "$0/config.toml" && exec "$@""#;
        let line = [
            "unshare",
            "--map-root-user",
            "--mount",
            "sh",
            "-c",
            script,
            home.to_str().unwrap(),
        ];
        line.map(str::to_owned).to_vec()
    };
    let setup = Setup {
        before: Box::new(small),
        script: Script::new(vec![Reply::text("First answer."), Reply::text("Second answer.")]),
        ..Setup::new(vec![])
    };
    let app = App::start_with(setup);
    app.say("One");
    app.shows(&["First answer."]);
    let fill = app.inside(&app.home.path().join("fill"));
    fill_up(&fill);
    app.say("Two");
    app.shows(&["is full", "Make room", "First answer."]);
    let typed = app.driver.run("return document.querySelector('textarea').value");
    assert_eq!(typed, "Two", "what could not be kept is still in the composer");
    app.shot("h-full-disk");
    std::fs::remove_file(&fill).unwrap();
    app.driver.type_into(COMPOSER, "\u{E007}");
    app.shows(&["First answer.", "Two", "Second answer."]);
    assert!(
        std::fs::metadata(app.inside(&app.home.path().join("data/cairn.db")))
            .unwrap()
            .len()
            > 0,
        "the database is there"
    );
}

fn fill_up(file: &Path) {
    use std::io::Write;
    let mut file = std::fs::File::create(file).unwrap();
    for size in [65_536, 4_096, 512, 1] {
        let piece = vec![0_u8; size];
        while file.write_all(&piece).is_ok() {}
    }
}
