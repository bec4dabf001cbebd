//! What looks like a secret, so that it is not sent to a stranger in a query or an address. Cases X122, N57, N59.
//!
//! Owns: the looks of secrets. Must never know: which secrets there really are; those are masked elsewhere.

use url::Url;

/// How keys of well-known services begin, and how many characters follow at least.
const PREFIXES: &[(&str, usize)] = &[
    ("sk-", 16),
    ("sk_live_", 10),
    ("rk_live_", 10),
    ("ghp_", 20),
    ("gho_", 20),
    ("ghu_", 20),
    ("ghs_", 20),
    ("ghr_", 20),
    ("github_pat_", 20),
    ("glpat-", 16),
    ("xoxb-", 10),
    ("xoxp-", 10),
    ("xoxa-", 10),
    ("xoxs-", 10),
    ("xapp-", 10),
    ("AKIA", 16),
    ("ASIA", 16),
    ("AIza", 30),
    ("ya29.", 20),
    ("npm_", 30),
    ("hf_", 30),
    ("pypi-", 30),
    ("dop_v1_", 30),
    ("SG.", 30),
    ("gsk_", 20),
    ("xai-", 20),
    ("tvly-", 20),
    ("lin_api_", 20),
    ("AGE-SECRET-KEY-", 20),
];

/// Endings of names whose value is a secret.
const NAMES: &[&str] = &[
    "password",
    "passwd",
    "pwd",
    "secret",
    "token",
    "apikey",
    "api_key",
    "api-key",
    "access_key",
    "private_key",
    "secret_key",
    "credential",
    "credentials",
    "authorization",
];

/// Ends of names of what only says where a list goes on. Their values are looked at like any other.
const PLACES: &[&str] = &[
    "page_token",
    "pagetoken",
    "next_token",
    "nexttoken",
    "continuation_token",
    "continuationtoken",
    "sync_token",
    "synctoken",
    "max_token",
];

/// Length from which a word of mixed characters is taken for a key.
const LONG_WORD: usize = 32;

/// What in a search query looks like a secret, in words that go on after "what looks like".
pub(crate) fn in_query(query: &str) -> Option<&'static str> {
    if query.contains("-----BEGIN") {
        return Some("a private key");
    }
    let words: Vec<&str> = query
        .split(|c: char| c.is_whitespace() || "\"'`(),;<>".contains(c))
        .collect();
    for (at, word) in words.iter().enumerate() {
        if let Some(what) = known_key(word) {
            return Some(what);
        }
        if let Some((name, value)) = word.split_once(['=', ':']) {
            // `password: hunter22` has its value in the next word.
            let value = if value.is_empty() {
                words.get(at + 1).copied().unwrap_or_default()
            } else {
                value
            };
            if is_secret_name(name) && is_value(value, word.contains('=')) {
                return Some("a password or key with its name");
            }
        }
        if word.split(['/', '=', ':', '@', '&', '?']).any(is_random) {
            return Some("a key");
        }
    }
    None
}

/// What in an address looks like a secret. Long random words are ordinary there; names and known keys are not.
pub(crate) fn in_address(url: &Url) -> Option<&'static str> {
    let named = url
        .query_pairs()
        .any(|(name, value)| is_secret_name(&name) && value.len() >= 8);
    if named {
        return Some("a password or key");
    }
    let query = url.query_pairs().any(|(_, value)| has_known_key(&value));
    let path = percent_decoded(url.path());
    (query || has_known_key(&path) || url.host_str().is_some_and(has_known_key))
        .then_some("a key of a service")
}

fn has_known_key(text: &str) -> bool {
    text.contains("-----BEGIN")
        || text
            .split(|c: char| !is_key_char(c))
            .any(|word| known_key(word).is_some())
}

fn percent_decoded(path: &str) -> String {
    // The query parser decodes the same way.
    let pair = format!("p={}", path.replace('&', "%26").replace('+', "%2B"));
    url::form_urlencoded::parse(pair.as_bytes())
        .map(|(_, value)| value.into_owned())
        .collect()
}

fn is_key_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')
}

fn known_key(word: &str) -> Option<&'static str> {
    let begins = |(prefix, length): &(&str, usize)| {
        word.split(['=', ':', '/', '@']).any(|part| {
            part.strip_prefix(prefix).is_some_and(|rest| {
                let run = rest.chars().take_while(|c| is_key_char(*c)).count();
                // A hyphenated phrase like `sk-learn-contrib-packages` has no digit.
                run >= *length && rest.bytes().any(|b| b.is_ascii_digit())
            })
        })
    };
    if PREFIXES.iter().any(begins) {
        return Some("a key of a service");
    }
    // A token of three parts whose first says `{"` (RFC 7519).
    let is_token = word.starts_with("eyJ") && word.matches('.').count() == 2 && word.len() > 40;
    is_token.then_some("an access token")
}

fn is_secret_name(name: &str) -> bool {
    let name = name
        .trim_start_matches(|c: char| !c.is_ascii_alphanumeric())
        .to_ascii_lowercase();
    let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
    ends(NAMES) && !ends(PLACES)
}

/// Whether something is a value and not the next word of a sentence: `token: unexpected` is an error message.
fn is_value(value: &str, after_equals: bool) -> bool {
    let has_digit = value.bytes().any(|b| b.is_ascii_digit());
    let has_letter = value.bytes().any(|b| b.is_ascii_alphabetic());
    if after_equals {
        value.len() >= 3
    } else {
        value.len() >= 8 && has_digit && has_letter
    }
}

/// A long word of capitals, small letters and digits mixed, or of hexadecimal digits as long as a private key. Shorter
/// ones are names of commits.
fn is_random(word: &str) -> bool {
    if word.len() == 64 && word.bytes().all(|b| b.is_ascii_hexdigit()) {
        return true;
    }
    let count = |of: fn(&u8) -> bool| word.bytes().filter(of).count();
    word.len() >= LONG_WORD
        && word.chars().all(|c| is_key_char(c) || c == '+')
        && count(u8::is_ascii_digit) >= 3
        && count(u8::is_ascii_uppercase) >= 3
        && count(u8::is_ascii_lowercase) >= 3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x122_what_looks_like_a_secret_is_known() {
        for query in [
            "is sk-proj-Ab12cd34Ef56gh78Ij90 valid",
            "ghp_abcdefghij0123456789abcdefghij",
            "what is AKIAIOSFODNN7EXAMPLE",
            "AWS_SECRET_ACCESS_KEY=abc",
            "password=hunter2",
            "login password: hunter22x",
            "next_page_token=ghp_abcdefghij0123456789abcdefghij",
            "page_token_secret=abcdef",
            "api_key=xyz123",
            "curl \"token=abcdef\"",
            "-----BEGIN RSA PRIVATE KEY-----",
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
            "wJalrXUtnFEMI7K7MDENGbPxRfiCYEXAMPLEKEY12",
            "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
        ] {
            assert!(in_query(query).is_some(), "{query}");
        }
    }

    #[test]
    fn x122_ordinary_queries_pass() {
        for query in [
            "how to store an api key",
            "rust password hashing argon2",
            "SyntaxError: Unexpected token: punc",
            "error: invalid token: unexpected",
            "cargo build --target=wasm32-unknown-unknown",
            "a=b & c#d \"quoted\"",
            "drive api next_page_token=ABC returns nextPageToken=xyz",
            "sampling max_tokens=4096 max_token=100",
            "8ca58661b2c3d4e5f60718293a4b5c6d7e8f9012 commit",
            "scikit sk-learn-contrib-packages-for-everybody",
            "std::collections::HashMap::get_or_insert_with",
            "https://docs.rs/reqwest/0.13.5/reqwest/struct.ClientBuilder.html#method.dns_resolver",
            "AbstractSingletonProxyFactoryBeanImplementation",
            "",
        ] {
            assert_eq!(in_query(query), None, "{query}");
        }
    }

    #[test]
    fn n57_secrets_in_addresses_are_known() {
        let found = |address: &str| in_address(&address.parse().unwrap()).is_some();
        for address in [
            "https://a.example/?d=sk-proj-Ab12cd34Ef56gh78Ij90",
            "https://a.example/?api_key=12345678",
            "https://a.example/?x=1&password=hunter22",
            "https://a.example/log/ghp_abcdefghij0123456789abcdefghij",
            "https://a.example/%67hp_abcdefghij0123456789abcdefghij",
            "https://a.example/?k=-----BEGIN%20KEY-----",
        ] {
            assert!(found(address), "{address}");
        }
        for address in [
            "https://docs.rs/reqwest/0.13.5/reqwest/",
            "https://a.example/?q=token",
            "https://a.example/?page=2&sort=asc",
            "https://a.example/d/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms/edit",
            "https://a.example/commit/8ca58661b2c3d4e5f60718293a4b5c6d7e8f9012",
        ] {
            assert!(!found(address), "{address}");
        }
    }
}
