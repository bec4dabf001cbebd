//! Tables of paths, by the ids of the cases.

use std::path::{Path, PathBuf};

use super::{Places, is_credential, runs_later};
use crate::{Care, Effect, Place};

fn places() -> Places {
    Places {
        root: PathBuf::from("/w/p"),
        home: Some(PathBuf::from("/h/u")),
        own: vec![
            PathBuf::from("/h/u/.config/cairn"),
            PathBuf::from("/h/u/.local/share/cairn"),
        ],
    }
}

#[test]
fn f01_a_sibling_with_the_same_beginning_is_outside() {
    let table = [
        ("/w/p", Place::Inside),
        ("/w/p/src/a.rs", Place::Inside),
        ("/w/p/..a/b", Place::Inside),
        ("/w/p/[id]/page.tsx", Place::Inside),
        ("/w/p-evil/x", Place::Outside),
        ("/w/P/x", Place::Outside),
        ("/w", Place::Outside),
        ("/", Place::Outside),
        ("", Place::Outside),
        ("src/a.rs", Place::Outside),
    ];
    for (path, place) in table {
        assert_eq!(places().place(Path::new(path)), place, "{path}");
    }
}

#[test]
fn f02_what_is_not_a_real_path_counts_as_outside() {
    for path in [
        "/w/p/./a/../..",
        "/w/p/../../h/u/.ssh/id_rsa",
        "../../h/u/.ssh/id_rsa",
        "~/.ssh/id_rsa",
        "file:///w/p/a",
    ] {
        assert_eq!(places().place(Path::new(path)), Place::Outside, "{path}");
    }
    for path in [
        "/proc/self/environ",
        "/proc/self/root/etc/shadow",
        "/proc/1/mem",
        "/proc/thread-self/environ",
    ] {
        let Effect::ReadPath { place, care, .. } = places().read(path) else {
            panic!("not a read")
        };
        assert_eq!((place, care), (Place::Outside, Care::Credential), "{path}");
    }
    assert_eq!(places().read_care(Path::new("/proc/cpuinfo")), Care::Plain);
    assert_eq!(places().place(Path::new("/dev/stdin")), Place::Outside);
}

#[test]
fn x72_credential_names_are_known_and_look_alikes_are_not() {
    let credentials = [
        ".env",
        ".env.local",
        "a/b/.env.test",
        ".ENV",
        ".env.production.local",
        "server.pem",
        "a/TLS.KEY",
        "id_rsa",
        "id_dsa",
        "id_ecdsa_sk",
        "id_ed25519",
        "deploy/id_rsa.bak",
        ".npmrc",
        "sub/.netrc",
        ".pypirc",
        ".pgpass",
        ".htpasswd",
        "credentials",
        ".git-credentials",
        ".ssh/config",
        ".ssh/known_hosts",
        "x/.aws/config",
        ".kube/config",
        ".docker/config.json",
        ".config/gcloud/a.db",
        ".gnupg/x",
        ".azure/token",
        ".env.",
        ".env::$DATA",
        ".e\u{200d}nv",
    ];
    for path in credentials {
        let path = Path::new("/w/p").join(path);
        assert!(is_credential(&path), "{}", path.display());
        assert_eq!(places().read_care(&path), Care::Credential, "{}", path.display());
    }
    let plain = [
        ".envrc",
        "env.rs",
        "keyboard.rs",
        ".env.example",
        ".env.sample",
        ".env.template",
        ".env.local.example",
        "id_rsa.pub",
        "id_ed25519.pub",
        "pem",
        "key",
        "monkey",
        "public_key.rs",
        "credentials.rs",
        "src/credentials_test.py",
        ".environment",
        "ssh/config",
        "aws/x",
        "docs/.env/readme.md",
        ".config/app/gcloud.rs",
        "grid_rsa",
    ];
    for path in plain {
        let path = Path::new("/w/p").join(path);
        assert!(!is_credential(&path), "{}", path.display());
    }
}

#[test]
fn f11_protected_files_are_known_and_build_files_only_run_later() {
    let protected = [
        ".git/config",
        ".git/hooks/post-checkout",
        ".git/info/attributes",
        ".git/HEAD",
        ".git",
        "sub/.git/config",
        ".gitattributes",
        ".gitmodules",
        ".vscode/settings.json",
        ".vscode/tasks.json",
        ".idea/workspace.xml",
        ".envrc",
        ".husky/pre-commit",
        ".github/workflows/ci.yml",
        ".cargo/config.toml",
        ".cargo/config",
        "crates/a/.cargo/config.toml",
        ".npmrc",
        ".mcp.json",
        "AGENTS.md",
        "sub/CLAUDE.md",
        ".cairn/config.toml",
        ".cairn/memory.md",
        ".claude/settings.json",
        ".bashrc",
        ".profile",
        ".zshenv",
        ".config/fish/config.fish",
        ".pre-commit-config.yaml",
        ".gitlab-ci.yml",
    ];
    for path in protected {
        assert_eq!(
            places().write_care(&Path::new("/w/p").join(path)),
            Care::Protected,
            "{path}"
        );
    }
    let build = [
        "Makefile",
        "build.rs",
        "package.json",
        "conftest.py",
        "sub/CMakeLists.txt",
        "rules.mk",
        "vite.config.ts",
        "GNUmakefile",
    ];
    for path in build {
        let path = Path::new("/w/p").join(path);
        assert_eq!(places().write_care(&path), Care::Plain, "{}", path.display());
        assert!(runs_later(&path), "{}", path.display());
    }
    let plain = [
        ".gitignore",
        ".github/CODEOWNERS",
        "cargo/config.toml",
        "git/config",
        "src/agents.rs",
        ".config/app.toml",
        "README.md",
        ".cairnignore",
    ];
    for path in plain {
        let path = Path::new("/w/p").join(path);
        assert_eq!(places().write_care(&path), Care::Plain, "{}", path.display());
        assert!(!runs_later(&path), "{}", path.display());
    }
}

#[test]
fn f09_f10_names_are_compared_as_the_most_forgiving_file_system_does() {
    let same = [
        ".GIT/hooks/x",
        ".Git/config",
        ".mcp.JSON",
        ".git\u{200c}/config",
        ".\u{feff}git/config",
        ".gi\u{202e}t/hooks/a",
        ".git./config",
        ".git /config",
        "git~1/config",
        "GIT~1/hooks/x",
        ".git::$INDEX_ALLOCATION/config",
        ".VSCODE/tasks.json",
        ".ba\u{17f}hrc",
        "agents.MD",
        ".gitattributes\u{200b}",
    ];
    for path in same {
        assert_eq!(
            places().write_care(&Path::new("/w/p").join(path)),
            Care::Protected,
            "{path}"
        );
    }
}

#[test]
fn our_own_folders_are_protected_and_secret_wherever_they_are() {
    let own = Path::new("/h/u/.config/cairn/config.toml");
    assert_eq!(places().write_care(own), Care::Protected);
    assert_eq!(places().read_care(own), Care::Credential);
    assert_eq!(
        places().read_care(Path::new("/h/u/.config/cairn-other/x")),
        Care::Plain
    );

    let home_is_the_project = Places {
        root: PathBuf::from("/h/u"),
        ..places()
    };
    assert_eq!(home_is_the_project.place(own), Place::Inside);
    assert_eq!(home_is_the_project.write_care(own), Care::Protected);
}

#[test]
fn a_project_inside_our_data_folder_is_a_project() {
    let sample = Places {
        root: PathBuf::from("/h/u/.local/share/cairn/sample"),
        ..places()
    };
    assert_eq!(
        sample.read_care(Path::new("/h/u/.local/share/cairn/sample/src/a.rs")),
        Care::Plain
    );
    assert_eq!(
        sample.write_care(Path::new("/h/u/.local/share/cairn/sample/src/a.rs")),
        Care::Plain
    );
    assert_eq!(
        sample.write_care(Path::new("/h/u/.local/share/cairn/data/cairn.db")),
        Care::Protected
    );
}

#[test]
fn f08_a_second_hard_link_is_noted() {
    for (links, noted) in [(0, false), (1, false), (2, true), (900, true)] {
        let Effect::WritePath { hard_linked, .. } = places().write("/w/p/a", links) else {
            panic!("not a write")
        };
        assert_eq!(hard_linked, noted);
    }
}

#[cfg(unix)]
#[test]
fn f14_names_that_are_no_text_are_judged_all_the_same() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let odd = Path::new("/w/p").join(OsStr::from_bytes(b"\xff\xfe/.env"));
    assert_eq!(places().place(&odd), Place::Inside);
    assert!(is_credential(&odd));
    for name in ["a\nb", "-rf", "CON", "trailing.", "\u{202e}gpj.exe"] {
        assert_eq!(places().place(&Path::new("/w/p").join(name)), Place::Inside);
    }
}

#[test]
fn paths_are_named_as_short_as_they_are_clear() {
    for (path, name) in [
        ("/w/p/src/a.rs", "src/a.rs"),
        ("/w/p", "the project folder"),
        ("/h/u/notes.txt", "~/notes.txt"),
        ("/h/u2/notes.txt", "/h/u2/notes.txt"),
        ("/etc/passwd", "/etc/passwd"),
    ] {
        assert_eq!(places().named(Path::new(path)), name);
    }
}
