//! Addresses as a model writes them: read strictly, refused in every spelling that means a machine of somebody's own.
//!
//! Owns: the form of an address. Must never know: what its name resolves to.

use std::fmt;
use std::net::IpAddr;

use cairn_agent::tool::Addresses;
use cairn_policy::{AddressWords, Carries, Effect, Show, address::refused, is_this_machine, show};
use cairn_protocol::{ApprovalSubject, ShownSpan};
use url::{Host, Url};

use super::error::WebError;
use super::secret;

/// Bytes of an address that are looked at.
const LONGEST: usize = 8 * 1024;
/// Characters of a query beyond which an address could carry a file out. Case N57.
const MUCH_QUERY: usize = 256;
/// The same for its path.
const MUCH_PATH: usize = 512;
/// The same for its host, by the names beneath a granted domain.
const MUCH_HOST: usize = 100;

/// An address that may be asked for, as far as its form says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    url: Url,
    host: String,
    port: u16,
}

impl Target {
    /// Reads an address of a model's.
    pub(crate) fn parse(text: &str) -> Result<Self, WebError> {
        let text = text.trim();
        let wrong = |problem: &str| {
            Err(WebError::Address {
                address: shortened(text),
                problem: problem.to_owned(),
            })
        };
        if text.len() > LONGEST {
            return wrong("it is longer than 8,192 bytes");
        }
        // A parser of addresses drops tabs and line breaks and takes `\` for `/`; whoever reads the address does not.
        if text.contains(|c: char| c.is_control() || c.is_whitespace() || c == '\\') {
            return wrong(
                "it holds a blank, a control character or a backslash; write those as %20 and the like",
            );
        }
        match Url::parse(text) {
            Ok(url) => Self::of(url),
            Err(url::ParseError::RelativeUrlWithoutBase) => {
                wrong("it must be whole and begin with `https://` or `http://`")
            }
            Err(error) => wrong(&format!("it cannot be read ({error})")),
        }
    }

    /// Checks an address that was read already, like that of a redirect.
    pub(crate) fn of(url: Url) -> Result<Self, WebError> {
        let target = Self::of_any_host(url)?;
        let barred = |what: &str| {
            Err(WebError::Barred {
                host: target.shown(),
                what: what.to_owned(),
            })
        };
        match target.url.host() {
            Some(Host::Domain(name)) if is_this_machine(name) => barred("this machine itself"),
            Some(Host::Ipv4(address)) => match refused(IpAddr::V4(address)) {
                Some(why) => barred(why.as_str()),
                None => Ok(target),
            },
            Some(Host::Ipv6(address)) => match refused(IpAddr::V6(address)) {
                Some(why) => barred(why.as_str()),
                None => Ok(target),
            },
            _ => Ok(target),
        }
    }

    /// Checks all but whether the host is public; for addresses out of the user's own configuration.
    pub(crate) fn of_any_host(mut url: Url) -> Result<Self, WebError> {
        let address = shortened(url.as_str());
        let wrong = |problem: &str| {
            Err(WebError::Address {
                address: address.clone(),
                problem: problem.to_owned(),
            })
        };
        if !matches!(url.scheme(), "http" | "https") {
            return wrong("only `https://` and `http://` are fetched");
        }
        if !url.username().is_empty() || url.password().is_some() {
            // Its host is what stands behind the `@`, which is easily read wrong.
            return wrong("a name or password before the host is never sent; leave it out");
        }
        if let Some(what) = secret::in_address(&url) {
            return wrong(&format!(
                "it holds what looks like {what}, which would go to its host; it was not sent"
            ));
        }
        url.set_fragment(None);
        if let Some(Host::Domain(name)) = url.host()
            && name.ends_with('.')
        {
            let name = name.trim_end_matches('.').to_owned();
            if url.set_host(Some(&name)).is_err() {
                return wrong("its host is no name");
            }
        }
        let (Some(host), Some(port)) = (url.host_str().map(str::to_owned), url.port_or_known_default())
        else {
            return wrong("it names no host");
        };
        if let Some(Host::Domain(name)) = url.host()
            && (name.len() > 253 || name.split('.').any(|label| !(1..=63).contains(&label.len())))
        {
            return wrong("its host is no name: a part of it is empty or longer than 63 characters");
        }
        Ok(Self { url, host, port })
    }

    /// The address, without what follows `#`.
    pub(crate) fn url(&self) -> &Url {
        &self.url
    }

    /// The host in ASCII, with the port where it is not a usual one.
    pub(crate) fn shown(&self) -> String {
        if matches!(self.port, 80 | 443) {
            self.host.clone()
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }

    /// Whose words it is, by the addresses that are not the model's own. SPEC P9.
    pub(crate) fn words(&self, literal: &Addresses) -> AddressWords {
        let is_it = |address: &str| Self::parse(address).is_ok_and(|known| known.url == self.url);
        if literal.contains(self.url.as_str()) || literal.iter().any(is_it) {
            AddressWords::Literal
        } else {
            AddressWords::Composed
        }
    }

    /// What fetching it would do.
    pub(crate) fn effect(&self, words: AddressWords) -> Effect {
        let much = self.url.query().map_or(0, str::len) > MUCH_QUERY
            || self.url.path().len() > MUCH_PATH
            || self.host.len() > MUCH_HOST;
        Effect::ReachHost {
            host: self.host.clone(),
            port: self.port,
            carries: if much { Carries::Much } else { Carries::Little },
            words,
        }
    }

    /// What its card shows.
    pub(crate) fn subject(&self) -> ApprovalSubject {
        ApprovalSubject::Connect {
            host: self.shown_host(),
            address: show(self.url.as_str(), Show::Name),
        }
    }

    /// The host as it was meant to be read, with its ASCII form beside it where the two differ. Case U07.
    fn shown_host(&self) -> Vec<ShownSpan> {
        let ascii = self.shown();
        let (unicode, _) = idna::domain_to_unicode(&ascii);
        let text = if unicode.is_ascii() {
            ascii
        } else {
            format!("{ascii} ({unicode})")
        };
        show(&text, Show::Name)
    }

    /// Whether a redirect from here to there stays with what was allowed: the same host, the same port or both usual
    /// ones, and no step back from encryption.
    pub(crate) fn stays_at(&self, there: &Self) -> bool {
        let usual = |port| matches!(port, 80 | 443);
        let steps_back = self.url.scheme() == "https" && there.url.scheme() == "http";
        self.host == there.host
            && (self.port == there.port || usual(self.port) && usual(there.port))
            && !steps_back
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.url.as_str())
    }
}

/// An address for a message.
fn shortened(address: &str) -> String {
    const MOST: usize = 200;
    let seen = address.chars().filter(|c| !c.is_control());
    let mut short: String = seen.take(MOST).collect();
    if short.len() < address.len() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests;
