//! What a child is given of our environment. SPEC T21, A7, P5; cases L04, P45, P73.
//!
//! Owns: which variables a command sees. Must never know: where the given ones come from.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

/// Keys of model and search providers: never given to a child, whatever `pass_env` says.
const PROVIDER_KEYS: &[&str] = &[
    "AI21_API_KEY",
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "AZURE_API_KEY",
    "AZURE_OPENAI_API_KEY",
    "AZURE_OPENAI_AD_TOKEN",
    "BRAVE_API_KEY",
    "BRAVE_SEARCH_API_KEY",
    "CEREBRAS_API_KEY",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CODESTRAL_API_KEY",
    "COHERE_API_KEY",
    "CO_API_KEY",
    "DASHSCOPE_API_KEY",
    "DEEPINFRA_API_KEY",
    "DEEPSEEK_API_KEY",
    "FIREWORKS_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "GOOGLE_GENERATIVE_AI_API_KEY",
    "GROQ_API_KEY",
    "HF_TOKEN",
    "HUGGING_FACE_HUB_TOKEN",
    "HUGGINGFACE_API_KEY",
    "LITELLM_API_KEY",
    "LITELLM_MASTER_KEY",
    "LM_STUDIO_API_KEY",
    "MINIMAX_API_KEY",
    "MISTRAL_API_KEY",
    "MOONSHOT_API_KEY",
    "NVIDIA_API_KEY",
    "OLLAMA_API_KEY",
    "OPENAI_ADMIN_KEY",
    "OPENAI_API_KEY",
    "OPENROUTER_API_KEY",
    "PERPLEXITY_API_KEY",
    "REPLICATE_API_TOKEN",
    "SAMBANOVA_API_KEY",
    "TAVILY_API_KEY",
    "TOGETHER_API_KEY",
    "VLLM_API_KEY",
    "VOYAGE_API_KEY",
    "XAI_API_KEY",
    "ZAI_API_KEY",
];

/// Ends of names whose values are secrets unless the person passes them on.
const SECRET_ENDS: &[&str] = &[
    "KEY",
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "CREDENTIAL",
    "CREDENTIALS",
];

/// Variables that make a shell, git or search program run or read something that no card has shown.
const MISLEADING: &[&str] = &[
    "BASHOPTS",
    "BASH_ENV",
    "BASH_XTRACEFD",
    "CDPATH",
    "ENV",
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_WORK_TREE",
    "GLOBIGNORE",
    "OLDPWD",
    "PROMPT_COMMAND",
    "PS4",
    "PWD",
    "RIPGREP_CONFIG_PATH",
    "SHELLOPTS",
    "SSH_ASKPASS",
    "_",
];

/// What every child gets: nobody is there to answer a prompt, to leave an editor or to turn a page.
const GIVEN: &[(&str, &str)] = &[
    ("CAIRN_INSIDE", "1"),
    ("DEBIAN_FRONTEND", "noninteractive"),
    ("EDITOR", "true"),
    ("GCM_INTERACTIVE", "never"),
    ("GIT_ASKPASS", "true"),
    ("GIT_EDITOR", "true"),
    ("GIT_PAGER", "cat"),
    ("GIT_SEQUENCE_EDITOR", "true"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("MANPAGER", "cat"),
    ("PAGER", "cat"),
    ("PIP_NO_INPUT", "1"),
    ("SSH_ASKPASS_REQUIRE", "never"),
    ("SYSTEMD_PAGER", "cat"),
    ("TERM", "dumb"),
    ("VISUAL", "true"),
];

/// What the helper itself needs: enough for the loader and for messages, nothing that could be a secret.
const HELPER_NEEDS: &[&str] = &["LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "PATH", "TMPDIR"];

/// The environment of a command, made from `parent` (the environment of the app or what a test gives).
///
/// Our own and providers' keys are always left out; other names that end like a secret
/// (`*_KEY`, `*_TOKEN`, `*_SECRET`, `*_PASSWORD` …) unless `pass` holds them; so are variables that would make a
/// shell, git or ripgrep do what was not shown, and relative folders in `PATH`. Sorted by name.
pub fn child_environment(
    parent: impl IntoIterator<Item = (OsString, OsString)>,
    pass: &[String],
) -> Vec<(OsString, OsString)> {
    let mut environment: BTreeMap<OsString, OsString> = parent
        .into_iter()
        .filter(|(name, _)| is_passed(name, pass))
        .collect();
    if let Some(path) = environment.get_mut(OsStr::new("PATH")) {
        *path = absolute_folders(path);
    }
    environment.extend(
        GIVEN
            .iter()
            .map(|(name, value)| (OsString::from(name), OsString::from(value))),
    );
    environment.into_iter().collect()
}

/// Whether a variable is a secret that a program which we start, or a library in us, has no business with: our own and
/// providers' keys, and what is named like a secret. What a window system hands to the window it asked for is none.
pub(crate) fn is_secret_variable(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_uppercase();
    let is_token_of_the_desktop = name == "XDG_ACTIVATION_TOKEN";
    !is_token_of_the_desktop && (PROVIDER_KEYS.contains(&name.as_str()) || is_secret(&name))
}

/// The environment of a helper, made from `parent`.
pub(crate) fn helper_environment(
    parent: impl IntoIterator<Item = (OsString, OsString)>,
) -> Vec<(OsString, OsString)> {
    parent
        .into_iter()
        .filter(|(name, _)| HELPER_NEEDS.iter().any(|needed| name == needed))
        .collect()
}

/// Whether a child gets the variable.
fn is_passed(name: &OsStr, pass: &[String]) -> bool {
    let name = name.to_string_lossy().to_uppercase();
    if name == "CAIRN_HOME" {
        return true;
    }
    let ours = name.starts_with("CAIRN_") || PROVIDER_KEYS.contains(&name.as_str());
    let misleading = MISLEADING.contains(&name.as_str()) || name.starts_with("BASH_FUNC_");
    !ours
        && !misleading
        && (!is_secret(&name) || pass.iter().any(|passed| passed.eq_ignore_ascii_case(&name)))
}

/// Whether a name, in upper case, ends like that of a secret.
fn is_secret(name: &str) -> bool {
    if matches!(name, "APIKEY" | "PGPASSWORD" | "MYSQL_PWD" | "SSHPASS") || name.ends_with("_APIKEY") {
        return true;
    }
    SECRET_ENDS.iter().any(|end| {
        name.strip_suffix(end)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('_'))
    })
}

/// The absolute folders of a `PATH`: a relative or empty one would run whatever the project put there.
fn absolute_folders(path: &OsStr) -> OsString {
    let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
    std::env::join_paths(folders).unwrap_or_else(|_| OsString::from("/usr/bin:/bin"))
}

#[cfg(test)]
mod tests;
