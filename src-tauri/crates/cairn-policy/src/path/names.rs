//! The lists: which names hold credentials, which are protected, which are build files.
//!
//! All functions take the names of a path, outermost first, folded by the parent module.

/// Files that hold keys or passwords whatever folder they are in. SPEC P2, and git's own password store.
const CREDENTIAL_FILES: &[&str] = &[
    ".env",
    ".npmrc",
    ".netrc",
    "_netrc",
    ".pypirc",
    ".pgpass",
    ".htpasswd",
    "credentials",
    ".git-credentials",
];

/// Endings of `.env.*` that are there to be read.
const ENV_SAMPLES: &[&str] = &[".example", ".sample", ".template"];

/// Private keys: these beginnings, unless the name ends in `.pub`.
const KEY_BEGINNINGS: &[&str] = &["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"];

/// Folders of which every file is a credential: ssh, and what cloud tools log in with.
const CREDENTIAL_FOLDERS: &[&[&str]] = &[
    &[".ssh"],
    &[".gnupg"],
    &[".aws"],
    &[".azure"],
    &[".kube"],
    &[".oci"],
    &[".docker"],
    &[".bluemix"],
    &[".config", "gcloud"],
    &["appdata", "roaming", "gcloud"],
    &[".config", "gh"],
    &[".config", "doctl"],
    &[".config", "hcloud"],
    &[".config", "rclone"],
    &[".config", "op"],
    &[".config", "1password"],
    &[".config", "containers", "auth.json"],
    &[".cargo", "credentials.toml"],
    &[".terraform.d", "credentials.tfrc.json"],
    &[".password-store"],
    &[".local", "share", "keyrings"],
    // browsers and mail
    &[".mozilla"],
    &[".thunderbird"],
    &[".config", "google-chrome"],
    &[".config", "chromium"],
    &[".config", "microsoft-edge"],
    &[".config", "bravesoftware"],
];

/// Folders of which every file is protected: git's own, editors', hooks', agents'.
const PROTECTED_FOLDERS: &[&[&str]] = &[
    &[".git"],
    &[".cairn"],
    &[".vscode"],
    &[".idea"],
    &[".zed"],
    &[".devcontainer"],
    &[".husky"],
    &[".claude"],
    &[".cursor"],
    &[".codex"],
    &[".gemini"],
    &[".circleci"],
    &[".github", "workflows"],
    &[".github", "actions"],
    &[".config", "git"],
    &[".config", "fish"],
    &[".config", "autostart"],
    &[".config", "systemd"],
    &["library", "launchagents"],
];

/// Files that are protected whatever folder they are in.
const PROTECTED_FILES: &[&str] = &[
    // git
    ".gitattributes",
    ".gitmodules",
    ".gitconfig",
    // shells
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".mkshrc",
    ".cshrc",
    ".tcshrc",
    ".login",
    ".logout",
    ".inputrc",
    ".xprofile",
    ".xinitrc",
    ".xsession",
    ".xsessionrc",
    ".pam_environment",
    "profile.ps1",
    "microsoft.powershell_profile.ps1",
    // what tools read and run on entering a folder, on a commit or on the next install
    ".envrc",
    ".mcp.json",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".pnpmfile.cjs",
    ".pre-commit-config.yaml",
    ".pre-commit-config.yml",
    "lefthook.yml",
    ".lefthook.yml",
    ".vimrc",
    ".exrc",
    ".nvimrc",
    ".nvim.lua",
    ".gdbinit",
    ".lldbinit",
    // continuous integration
    ".gitlab-ci.yml",
    ".travis.yml",
    "azure-pipelines.yml",
    "bitbucket-pipelines.yml",
    "jenkinsfile",
    // instructions to agents
    "agents.md",
    "agents.override.md",
    "claude.md",
    "claude.local.md",
    "gemini.md",
    "thoth.md",
];

/// Files that are protected in one folder only.
const PROTECTED_PAIRS: &[(&str, &str)] = &[
    (".cargo", "config"),
    (".cargo", "config.toml"),
    (".github", "copilot-instructions.md"),
];

/// Files that run code when the project is next built or tested.
const BUILD_FILES: &[&str] = &[
    "makefile",
    "gnumakefile",
    "build.rs",
    "package.json",
    "conftest.py",
    "setup.py",
    "noxfile.py",
    "tox.ini",
    "cmakelists.txt",
    "meson.build",
    "justfile",
    ".justfile",
    "rakefile",
    "gemfile",
    "dockerfile",
    "build.gradle",
    "build.gradle.kts",
    "settings.gradle",
    "settings.gradle.kts",
    "pom.xml",
    "binding.gyp",
    "gulpfile.js",
    "gruntfile.js",
    "configure",
];

/// Beginnings of such names, like `vite.config.ts`.
const BUILD_BEGINNINGS: &[&str] = &[
    "vite.config.",
    "vitest.config.",
    "webpack.config.",
    "rollup.config.",
    "jest.config.",
    "eslint.config.",
    ".eslintrc.",
    "babel.config.",
    "svelte.config.",
    "playwright.config.",
];

/// The places of [`CREDENTIAL_FOLDERS`] as paths beneath a home folder.
pub(super) fn credential_places() -> impl Iterator<Item = std::path::PathBuf> {
    CREDENTIAL_FOLDERS.iter().map(|names| names.iter().collect())
}

pub(super) fn is_credential(names: &[String]) -> bool {
    let Some(last) = names.last() else { return false };
    let ends = |end: &str| last.len() > end.len() && last.ends_with(end); // both are lower case by now
    let env = last.starts_with(".env.") && !ENV_SAMPLES.iter().any(|sample| last.ends_with(sample));
    let key = KEY_BEGINNINGS.iter().any(|key| last.starts_with(key)) && !ends(".pub");
    env || key
        || CREDENTIAL_FILES.contains(&last.as_str())
        || ends(".pem")
        || ends(".key")
        || CREDENTIAL_FOLDERS.iter().any(|folder| lies_in(names, folder))
}

/// State of running processes: `/proc/self/environ` holds the keys that were removed from our children (F02).
pub(super) fn is_process_state(names: &[String]) -> bool {
    let mut names = names.iter();
    let process = |name: &String| {
        name == "self"
            || name == "thread-self"
            || (!name.is_empty() && name.bytes().all(|b| b.is_ascii_digit()))
    };
    names.next().is_some_and(|first| first == "proc") && names.next().is_some_and(process)
}

pub(super) fn is_protected(names: &[String]) -> bool {
    let mut backwards = names.iter().rev();
    let Some(last) = backwards.next() else {
        return false;
    };
    let parent = backwards.next();
    PROTECTED_FILES.contains(&last.as_str())
        || PROTECTED_PAIRS
            .iter()
            .any(|(folder, file)| last == file && parent.is_some_and(|p| p == folder))
        || PROTECTED_FOLDERS.iter().any(|folder| lies_in(names, folder))
}

pub(super) fn is_build_file(names: &[String]) -> bool {
    let Some(last) = names.last() else { return false };
    BUILD_FILES.contains(&last.as_str())
        || last.strip_suffix(".mk").is_some_and(|stem| !stem.is_empty())
        || BUILD_BEGINNINGS.iter().any(|start| last.starts_with(start))
}

/// Whether the path is that folder or lies somewhere beneath it.
fn lies_in(names: &[String], folder: &[&str]) -> bool {
    names
        .windows(folder.len())
        .any(|window| window.iter().zip(folder).all(|(name, want)| name == want))
}
