use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::symlink;

use super::*;

struct Project {
    folder: tempfile::TempDir,
}

impl Project {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("p/src")).unwrap();
        std::fs::create_dir_all(folder.path().join("home/.ssh")).unwrap();
        std::fs::write(folder.path().join("p/src/a.rs"), "a").unwrap();
        std::fs::write(folder.path().join("home/.ssh/id_rsa"), "key").unwrap();
        Self { folder }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(path)
    }

    /// By the kernel and by walking: every fact holds for both.
    fn roots(&self) -> [Root; 2] {
        [
            Root::open(&self.at("p")).unwrap(),
            Root::open_walking(&self.at("p")).unwrap(),
        ]
        .map(|root| root.with_home(Some(self.at("home"))))
    }
}

#[test]
fn finds_paths_in_every_spelling() {
    let project = Project::new();
    for root in project.roots() {
        let absolute = project.at("p/src/a.rs").into_os_string().into_string().unwrap();
        for text in [
            "src/a.rs",
            "./src/a.rs",
            "src/../src/./a.rs",
            "src//a.rs",
            &absolute,
        ] {
            let found = root.resolve(text).unwrap();
            assert_eq!(found.real, project.at("p/src/a.rs"), "{text}");
            assert_eq!(
                (found.shown.as_str(), found.place, found.kind),
                ("src/a.rs", Place::Inside, Kind::File)
            );
        }
        let itself = root.resolve(".").unwrap();
        assert_eq!((itself.shown.as_str(), itself.kind), (".", Kind::Folder));
        let new = root.resolve("deep/er/new.rs").unwrap();
        assert_eq!(
            (new.shown.as_str(), new.place, new.kind),
            ("deep/er/new.rs", Place::Inside, Kind::Missing)
        );
        assert_eq!(
            root.resolve("src/a.rs/b").unwrap_err(),
            FileError::NotAFolder("src/a.rs".into())
        );
    }
}

#[test]
fn f01_takes_a_neighbour_with_the_same_beginning_for_outside() {
    let project = Project::new();
    std::fs::create_dir(project.at("p-evil")).unwrap();
    std::fs::write(project.at("p-evil/x"), "x").unwrap();
    for root in project.roots() {
        let text = project.at("p-evil/x").into_os_string().into_string().unwrap();
        let found = root.resolve(&text).unwrap();
        assert_eq!((found.place, found.shown), (Place::Outside, text));
    }
}

#[test]
fn f02_sees_through_dots_and_the_home_sign_and_refuses_kernel_files() {
    let project = Project::new();
    for root in project.roots() {
        for text in [
            "../home/.ssh/id_rsa",
            "~/.ssh/id_rsa",
            "src/../../home/.ssh/id_rsa",
        ] {
            let found = root.resolve(text).unwrap();
            assert_eq!(found.real, project.at("home/.ssh/id_rsa"), "{text}");
            assert_eq!(found.place, Place::Outside);
        }
        assert_eq!(root.resolve("./a/../..").unwrap().place, Place::Outside);
        for text in [
            "/proc/self/environ",
            "/proc/self/root/etc/shadow",
            "/dev/stdin",
            "/dev/null",
            "/proc",
        ] {
            assert!(matches!(root.resolve(text), Err(FileError::Refused(_))), "{text}");
        }
        assert!(matches!(
            root.resolve("file:///etc/passwd"),
            Err(FileError::Url(_))
        ));
        symlink("/proc/self/root", project.at("p/door")).ok();
        assert!(matches!(
            root.resolve("door/etc/shadow"),
            Err(FileError::Refused(_))
        ));
    }
}

#[test]
fn f03_f05_g5_follows_links_before_it_judges() {
    let project = Project::new();
    symlink(project.at("home/.ssh/id_rsa"), project.at("p/link")).unwrap();
    symlink("../home", project.at("p/outbox")).unwrap();
    symlink("a.rs", project.at("p/src/inner")).unwrap();
    symlink("nowhere/at/all", project.at("p/dangling")).unwrap();
    for root in project.roots() {
        let link = root.resolve("link").unwrap();
        assert_eq!(
            (link.real, link.place),
            (project.at("home/.ssh/id_rsa"), Place::Outside)
        );
        let new = root.resolve("outbox/new.txt").unwrap();
        assert_eq!(
            (new.real, new.place, new.kind),
            (project.at("home/new.txt"), Place::Outside, Kind::Missing)
        );
        assert_eq!(root.resolve("src/inner").unwrap().shown, "src/a.rs");
        let dangling = root.resolve("dangling").unwrap();
        assert_eq!(
            (dangling.shown.as_str(), dangling.kind),
            ("nowhere/at/all", Kind::Missing)
        );
        // Never through the link itself, whatever was resolved before.
        assert!(root.open_file(&project.at("p/link")).is_err());
        assert!(root.open_file(&project.at("p/outbox/.ssh/id_rsa")).is_err());
    }
}

#[test]
fn ends_at_links_that_form_a_loop() {
    let project = Project::new();
    symlink("b", project.at("p/a")).unwrap();
    symlink("a", project.at("p/b")).unwrap();
    for root in project.roots() {
        assert!(matches!(root.resolve("a/x"), Err(FileError::LinkLoop(_))));
    }
}

#[test]
fn g4_f14_takes_every_character_of_a_name_literally() {
    let project = Project::new();
    let names = [
        "app/[locale]/blog/[slug]/page.tsx",
        "-rf",
        "a b/c'd\"e.txt",
        "übung/日本.md",
        "~tilde",
        "a*?{b,c}",
    ];
    for name in names {
        let path = project.at("p").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "x").unwrap();
    }
    let long = "n".repeat(255);
    std::fs::write(project.at("p").join(&long), "x").unwrap();
    let odd = OsString::from_vec(b"bad\xff\nname".to_vec());
    std::fs::write(project.at("p").join(&odd), "x").unwrap();
    for root in project.roots() {
        for name in names.iter().copied().chain([long.as_str()]) {
            let found = root.resolve(name).unwrap();
            assert_eq!((found.shown.as_str(), found.kind), (name, Kind::File));
        }
        let shown = root.show(&project.at("p").join(&odd));
        assert_eq!(shown, "bad\\xff\\x0aname");
        assert_eq!(root.resolve(&shown).unwrap().real, project.at("p").join(&odd));
        for reserved in ["CON", "trailing."] {
            assert_eq!(root.resolve(reserved).unwrap().kind, Kind::Missing);
        }
    }
}

#[test]
fn f20_x29_refuses_impossible_paths_with_a_sentence() {
    let project = Project::new();
    for root in project.roots() {
        assert_eq!(root.resolve("a\0b").unwrap_err(), FileError::Nul);
        assert_eq!(root.resolve("").unwrap_err(), FileError::EmptyPath);
        assert!(matches!(
            root.resolve(&"x".repeat(5_000)),
            Err(FileError::TooLong { length: 5_000 })
        ));
        assert!(matches!(
            root.resolve(&"x".repeat(256)),
            Err(FileError::TooLong { length: 256 })
        ));
        assert!(matches!(
            root.resolve(&"x/".repeat(2_500)),
            Err(FileError::TooLong { .. })
        ));
    }
}

#[test]
fn f21_notices_that_the_project_folder_was_replaced() {
    let project = Project::new();
    for root in project.roots() {
        std::fs::rename(project.at("p"), project.at("moved")).unwrap();
        assert!(matches!(root.resolve("src/a.rs"), Err(FileError::RootGone(_))));
        std::fs::create_dir_all(project.at("p/src")).unwrap();
        std::fs::write(project.at("p/src/a.rs"), "impostor").unwrap();
        assert!(matches!(root.resolve("src/a.rs"), Err(FileError::RootGone(_))));
        // What was resolved before still leads to the project and not to the impostor.
        let (file, _) = root.open_file(&root.path().join("src/a.rs")).unwrap();
        assert_eq!(std::io::read_to_string(file).unwrap(), "a");
        std::fs::remove_dir_all(project.at("p")).unwrap();
        std::fs::rename(project.at("moved"), project.at("p")).unwrap();
        assert_eq!(root.resolve("src/a.rs").unwrap().kind, Kind::File);
    }
}

#[test]
fn f21_a_project_that_is_a_link_is_known_by_its_real_path() {
    let project = Project::new();
    symlink(project.at("p"), project.at("by-link")).unwrap();
    let root = Root::open(&project.at("by-link")).unwrap();
    assert_eq!(root.path(), project.at("p"));
    let text = project
        .at("by-link/src/a.rs")
        .into_os_string()
        .into_string()
        .unwrap();
    assert_eq!(root.resolve(&text).unwrap().shown, "src/a.rs");
}

#[test]
fn refuses_pipes_sockets_and_folders_at_once() {
    let project = Project::new();
    let pipe = project.at("p/pipe");
    let fifo = FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(project.at("p/socket")).unwrap();
    for root in project.roots() {
        for (name, words) in [
            ("pipe", "a named pipe (FIFO)"),
            ("socket", "a socket"),
            ("src", "a folder"),
        ] {
            let found = root.resolve(name).unwrap();
            let error = root.open_file(&found.real).unwrap_err();
            assert_eq!(
                error,
                FileError::NotAFile {
                    shown: name.into(),
                    what: words
                }
            );
        }
    }
}
