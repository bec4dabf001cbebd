//! Hosts: what is known about a name before anybody connects to it.
//!
//! Owns: which names mean this machine, and where many strangers share one name. Must never know: addresses of names.

/// Names under which anybody can publish or collect for nothing: a rule for one of them would be a rule for everybody
/// there. Case N58.
const SHARED: &[&str] = &[
    "amazonaws.com",
    "appspot.com",
    "azurewebsites.net",
    "beeceptor.com",
    "bitbucket.io",
    "blogspot.com",
    "cloudflarestorage.com",
    "cloudfront.net",
    "cloudfunctions.net",
    "codeberg.page",
    "core.windows.net",
    "deno.dev",
    "firebaseapp.com",
    "fly.dev",
    "gist.github.com",
    "gist.githubusercontent.com",
    "github.io",
    "gitlab.io",
    "glitch.me",
    "googleusercontent.com",
    "hastebin.com",
    "herokuapp.com",
    "hf.space",
    "hookbin.com",
    "huggingface.co",
    "interact.sh",
    "js.org",
    "loca.lt",
    "neocities.org",
    "netlify.app",
    "ngrok-free.app",
    "ngrok.app",
    "ngrok.io",
    "npmjs.com",
    "oast.fun",
    "oast.pro",
    "oastify.com",
    "onrender.com",
    "pages.dev",
    "paste.ee",
    "pastebin.com",
    "pipedream.net",
    "pythonanywhere.com",
    "r2.dev",
    "railway.app",
    "raw.githubusercontent.com",
    "readthedocs.io",
    "render.com",
    "repl.co",
    "replit.app",
    "replit.dev",
    "requestbin.com",
    "requestcatcher.com",
    "run.app",
    "sourceforge.io",
    "storage.googleapis.com",
    "surge.sh",
    "transfer.sh",
    "trycloudflare.com",
    "vercel.app",
    "web.app",
    "webhook.site",
    "wordpress.com",
    "workers.dev",
];

/// The shared domain that a host belongs to; none when it is one publisher's own.
pub fn shared_domain(host: &str) -> Option<&'static str> {
    SHARED.iter().find(|domain| is_within(host, domain)).copied()
}

/// Whether a name means this machine whatever a resolver says: `localhost` and all beneath it (RFC 6761).
pub fn is_this_machine(host: &str) -> bool {
    is_within(host.trim_end_matches('.'), "localhost")
}

/// Whether a host is that domain or beneath it. Letter case does not count.
fn is_within(host: &str, domain: &str) -> bool {
    let Some(start) = host.len().checked_sub(domain.len()) else {
        return false;
    };
    let ends = host
        .get(start..)
        .is_some_and(|end| end.eq_ignore_ascii_case(domain));
    ends && (start == 0 || host.as_bytes().get(start - 1) == Some(&b'.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn n58_shared_domains_are_known_with_all_beneath_them() {
        for host in [
            "github.io",
            "evil.github.io",
            "a.b.GitHub.IO",
            "huggingface.co",
            "www.npmjs.com",
        ] {
            assert!(shared_domain(host).is_some(), "{host}");
        }
        for host in ["docs.rs", "notgithub.io", "github.io.example", "", "io", "é.rs"] {
            assert_eq!(shared_domain(host), None, "{host}");
        }
    }

    #[test]
    fn n02_localhost_is_this_machine_in_every_spelling() {
        for host in [
            "localhost",
            "localhost.",
            "LOCALHOST",
            "foo.localhost",
            "a.b.localhost.",
        ] {
            assert!(is_this_machine(host), "{host}");
        }
        for host in ["localhost.example", "mylocalhost", "local", ""] {
            assert!(!is_this_machine(host), "{host}");
        }
    }
}
