//! Phrases used to make a model do something. A warning only, so rather few that say something than many that bore.
//!
//! Each pattern is a row of places; a place is a list of words of which one has to stand there. A word that begins with
//! `?` makes its whole place one that may be missing.

use cairn_policy::is_unseen;

/// Words of a phrase that are shown.
const SHOWN: usize = 12;
/// Phrases that are gathered.
const MOST: usize = 5;

const OLD: &[&str] = &[
    "previous",
    "prior",
    "above",
    "earlier",
    "preceding",
    "foregoing",
    "existing",
    "system",
];
const ORDERS: &[&str] = &[
    "instructions",
    "instruction",
    "prompts",
    "prompt",
    "directives",
    "directive",
    "guidelines",
    "commands",
    "orders",
];
const IGNORE: &[&str] = &["ignore", "disregard", "forget", "override", "bypass", "discard"];
const ANY: &[&str] = &["?all", "any", "every", "each"];
const YOUR: &[&str] = &["?the", "your", "my", "of", "these", "those", "our"];

const PATTERNS: &[&[&[&str]]] = &[
    &[
        IGNORE,
        ANY,
        YOUR,
        YOUR,
        OLD,
        &["?and"],
        &["?system", "other"],
        ORDERS,
    ],
    &[
        IGNORE,
        ANY,
        &["your", "these"],
        &["?own", "original", "initial"],
        ORDERS,
    ],
    &[
        IGNORE,
        &["everything", "anything", "all"],
        &["?that"],
        &["?you", "i"],
        &["?were", "have", "was"],
        &["?been"],
        &["told", "above", "before", "said"],
    ],
    &[&["do"], &["not"], &["follow", "obey"], ANY, YOUR, OLD, ORDERS],
    &[
        &["you"],
        &["are"],
        &["now", "henceforth"],
        &["a", "an", "in", "my", "no", "dan"],
        &[
            "?longer",
            "developer",
            "jailbroken",
            "unrestricted",
            "helpful",
            "different",
        ],
        &[
            "mode",
            "assistant",
            "ai",
            "bound",
            "agent",
            "model",
            "restricted",
            "servant",
        ],
    ],
    &[
        &["your"],
        &["new", "real", "actual", "true", "updated"],
        &["instructions", "task", "objective", "goal", "orders", "role"],
        &["is", "are"],
    ],
    &[
        &["new", "updated", "important"],
        &["system"],
        &["instructions", "prompt", "message"],
    ],
    &[
        &["reveal", "print", "show", "repeat", "output", "leak"],
        &["?me"],
        &["your"],
        &["?full", "hidden", "entire", "initial"],
        &["system", "hidden", "secret"],
        &["prompt", "instructions"],
    ],
    &[
        &["do"],
        &["not"],
        &["tell", "inform", "alert", "notify", "mention"],
        &["?this", "it"],
        &["?to"],
        &["?the"],
        &["user", "human", "users"],
    ],
    &[
        &["without"],
        &["telling", "informing", "asking", "notifying", "alerting"],
        &["the"],
        &["user", "human"],
    ],
    &[
        &["hide", "conceal"],
        &["this"],
        &["from"],
        &["the"],
        &["user", "human"],
    ],
    &[
        &["the"],
        &["user", "human", "operator"],
        &["has"],
        &["already"],
        &["approved", "authorized", "authorised", "allowed", "consented"],
    ],
    &[
        &["as"],
        &["an"],
        &["ai", "llm"],
        &["?language"],
        &["?model", "assistant", "agent"],
        &["you"],
        &["must", "should", "are", "have"],
    ],
    &[
        &["ai", "llm", "assistant", "agents"],
        &["?reading", "processing"],
        &["?this"],
        &["?page", "text", "document"],
        &["must", "should"],
        &["?now", "immediately", "first", "always"],
        &["run", "execute", "fetch", "send", "call", "visit", "download"],
    ],
    &[
        &["run", "execute"],
        &["?the", "this"],
        &["?following", "this"],
        &["?shell", "bash"],
        &["command", "commands", "code", "script"],
        &["immediately", "now", "silently", "without"],
    ],
    &[
        &["send", "upload", "post", "exfiltrate", "forward", "email"],
        &["?all", "any"],
        &["the", "your", "their", "all"],
        &["?contents", "content"],
        &["?of"],
        &["?the", "your"],
        &[
            "env",
            "secrets",
            "credentials",
            "passwords",
            "tokens",
            "keys",
            "conversation",
            "id_rsa",
        ],
        &["to"],
    ],
    &[
        &["begin", "start", "end"],
        &["of"],
        &["?the"],
        &["?new"],
        &["system"],
        &["prompt", "message", "instructions"],
    ],
];

/// What stands for a change of speaker in the formats that models are trained on.
const SIGNS: &[&str] = &[
    "<|im_start|>",
    "<|im_end|>",
    "<|system|>",
    "<|endoftext|>",
    "[/inst]",
    "<<sys>>",
    "<system>",
    "</system>",
    "<system-reminder>",
    "<system_prompt>",
    "<tool_call>",
    "</tool_result>",
    "</function_results>",
    "<|start_header_id|>",
    "\n\nhuman:",
    "\n\nassistant:",
];

/// The phrases in a text, as they stand there.
pub(super) fn found(text: &str) -> Vec<String> {
    let words = words(text);
    let mut found: Vec<String> = Vec::new();
    let mut at = 0;
    while at < words.len() && found.len() < MOST {
        let rest = words.get(at..).unwrap_or_default();
        if let Some(length) = PATTERNS.iter().find_map(|pattern| matched(pattern, rest)) {
            let phrase: Vec<&str> = rest.iter().take(length.min(SHOWN)).map(String::as_str).collect();
            let phrase = phrase.join(" ");
            if !found.contains(&phrase) {
                found.push(phrase);
            }
            at += length;
        } else {
            at += 1;
        }
    }
    let lower = text.to_lowercase();
    for sign in SIGNS {
        if found.len() < MOST && lower.contains(sign) {
            found.push(sign.trim().to_owned());
        }
    }
    found
}

/// Words in small letters: what is not seen is taken out, letters that only look Latin are read as what they look like.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    for c in text.chars() {
        if is_unseen(c) && !c.is_whitespace() {
            continue;
        }
        let c = latin(c);
        if c.is_alphanumeric() || matches!(c, '_' | '\'' | '\u{2019}') {
            word.extend(c.to_lowercase());
        } else if !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// Full-width, mathematical-bold and the commonest Cyrillic and Greek look-alikes as what they look like.
fn latin(c: char) -> char {
    match c {
        '\u{ff21}'..='\u{ff3a}' | '\u{ff41}'..='\u{ff5a}' => {
            char::from_u32(u32::from(c) - 0xff21 + u32::from('A')).unwrap_or(c)
        }
        'а' | 'α' => 'a',
        'е' | 'ε' => 'e',
        'о' | 'ο' => 'o',
        'р' | 'ρ' => 'p',
        'с' => 'c',
        'х' => 'x',
        'у' => 'y',
        'і' | 'ι' => 'i',
        'ѕ' => 's',
        'ԁ' => 'd',
        'ո' => 'n',
        'ν' => 'v',
        c => c,
    }
}

/// How many words the pattern takes at the beginning of these; none when it does not fit.
fn matched(pattern: &[&[&str]], words: &[String]) -> Option<usize> {
    let Some((place, later)) = pattern.split_first() else {
        return Some(0);
    };
    let may_miss = place.first().is_some_and(|first| first.starts_with('?'));
    let fits = words
        .first()
        .is_some_and(|word| place.iter().any(|one| one.trim_start_matches('?') == word));
    let taken = if fits {
        words
            .get(1..)
            .and_then(|rest| matched(later, rest))
            .map(|length| length + 1)
    } else {
        None
    };
    taken.or_else(|| if may_miss { matched(later, words) } else { None })
}
