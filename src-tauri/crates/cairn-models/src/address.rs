//! Where a model server is: on this machine, nearby or hosted, and what it is called in messages.
//!
//! Owns: reading a base URL. Must never know: keys, requests, whether anybody answers there.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

/// How near a server is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// This machine itself.
    Loopback,
    /// The user's own network: private and link-local addresses, `.local` names, names without a dot.
    Nearby,
    /// Anywhere else: somebody's service, with silence limits and prices.
    Hosted,
}

/// Why a base URL cannot be used. The person mends the profile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// Not an address at all.
    #[error("\"{0}\" is not an address. It should look like http://127.0.0.1:11434/v1")]
    NotAUrl(String),
    /// Neither http nor https.
    #[error("a model server is reached by http or https, not by {0}")]
    Scheme(String),
    /// User name or password inside the address.
    #[error("the address holds a user name or password. Remove it and store the key with the profile")]
    Credentials,
}

/// The address of a model server, as far as the version part, like `http://127.0.0.1:11434/v1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    url: Url,
    place: Place,
}

impl Address {
    /// Reads a base URL; slashes at its end do not matter.
    pub fn parse(base_url: &str) -> Result<Self, AddressError> {
        let text = base_url.trim();
        // A bare `localhost:8080/v1` parses as a URL of scheme "localhost".
        let url = Url::parse(text).map_err(|_| AddressError::NotAUrl(text.to_owned()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(if text.contains("://") {
                AddressError::Scheme(url.scheme().to_owned())
            } else {
                AddressError::NotAUrl(text.to_owned())
            });
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(AddressError::Credentials);
        }
        let place = match url.host() {
            Some(Host::Ipv4(ip)) => place_of_v4(ip),
            Some(Host::Ipv6(ip)) => place_of_v6(ip),
            Some(Host::Domain(name)) => place_of_name(name),
            None => return Err(AddressError::NotAUrl(text.to_owned())),
        };
        Ok(Self { url, place })
    }

    /// How near it is.
    pub fn place(&self) -> Place {
        self.place
    }

    /// Whether it is the user's own: on this machine or in the own network.
    pub fn is_local(&self) -> bool {
        self.place != Place::Hosted
    }

    /// Whether the connection is encrypted.
    pub fn is_encrypted(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// The host's name as written, without brackets.
    pub fn host(&self) -> String {
        self.url
            .host_str()
            .unwrap_or_default()
            .trim_matches(['[', ']'])
            .to_owned()
    }

    /// The port, the scheme's own where none is written.
    pub fn port(&self) -> u16 {
        self.url.port_or_known_default().unwrap_or_default()
    }

    /// The address of an endpoint below the base, like `chat/completions`; a query of the base is kept.
    pub fn endpoint(&self, path: &str) -> Url {
        self.with_path(&format!("{}/{path}", self.url.path().trim_end_matches('/')))
    }

    /// Whether the base ends in a version, like `/v1`.
    pub fn has_version(&self) -> bool {
        let last = self.url.path().trim_end_matches('/').rsplit('/').next();
        last.and_then(|last| last.strip_prefix('v'))
            .is_some_and(|digits| digits.starts_with(|c: char| c.is_ascii_digit()))
    }

    /// The address of a path of the server itself, like `/api/tags`, whatever the base's own path is.
    pub fn at_root(&self, path: &str) -> Url {
        self.with_path(path)
    }

    fn with_path(&self, path: &str) -> Url {
        let mut url = self.url.clone();
        url.set_path(path);
        url
    }

    /// The usual program or service at this address, like `Ollama`; none when nothing is known.
    pub fn known_name(&self) -> Option<&'static str> {
        if self.is_local() {
            return LOCAL_SERVERS
                .iter()
                .find(|(port, _)| *port == self.port())
                .map(|(_, name)| *name);
        }
        let host = self.host();
        HOSTED_SERVICES
            .iter()
            .find(|(domain, _)| {
                host == *domain || host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'))
            })
            .map(|(_, name)| *name)
    }

    /// What the server is called in a message: `Ollama`, `OpenAI`, else `the model server`.
    pub fn display_name(&self) -> &'static str {
        self.known_name().unwrap_or("the model server")
    }

    /// Name and place for a message: `Ollama at 127.0.0.1:11434`, `OpenAI at api.openai.com`.
    pub fn described(&self) -> String {
        let host = self.url.host_str().unwrap_or_default();
        match self.url.port() {
            Some(port) => format!("{} at {host}:{port}", self.display_name()),
            None => format!("{} at {host}", self.display_name()),
        }
    }
}

/// Ports that the usual local programs listen on unless told otherwise (their own documentation).
const LOCAL_SERVERS: &[(u16, &str)] = &[
    (11434, "Ollama"),
    (8080, "llama.cpp"),
    (1234, "LM Studio"),
    (8000, "vLLM"),
];

/// Domains of the usual services, for messages only.
const HOSTED_SERVICES: &[(&str, &str)] = &[
    ("openai.com", "OpenAI"),
    ("openai.azure.com", "Azure OpenAI"),
    ("openrouter.ai", "OpenRouter"),
    ("deepseek.com", "DeepSeek"),
    ("mistral.ai", "Mistral"),
    ("groq.com", "Groq"),
    ("googleapis.com", "Google"),
    ("anthropic.com", "Anthropic"),
    ("x.ai", "xAI"),
    ("together.xyz", "Together"),
    ("fireworks.ai", "Fireworks"),
    ("cerebras.ai", "Cerebras"),
    ("moonshot.ai", "Moonshot"),
    ("moonshot.cn", "Moonshot"),
    ("z.ai", "Z.ai"),
    ("minimax.io", "MiniMax"),
    ("ollama.com", "Ollama"),
];

fn place_of_v4(ip: Ipv4Addr) -> Place {
    if ip.is_loopback() || ip.is_unspecified() {
        Place::Loopback
    } else if ip.is_private() || ip.is_link_local() {
        Place::Nearby
    } else {
        Place::Hosted
    }
}

fn place_of_v6(ip: Ipv6Addr) -> Place {
    if let Some(IpAddr::V4(mapped)) = ip.to_ipv4_mapped().map(IpAddr::V4) {
        return place_of_v4(mapped);
    }
    if ip.is_loopback() || ip.is_unspecified() {
        Place::Loopback
    } else if ip.is_unique_local() || ip.is_unicast_link_local() {
        Place::Nearby
    } else {
        Place::Hosted
    }
}

fn place_of_name(name: &str) -> Place {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    if name == "localhost" || name.ends_with(".localhost") {
        Place::Loopback
    } else if !name.contains('.')
        || [".local", ".lan", ".home.arpa", ".internal"]
            .iter()
            .any(|suffix| name.ends_with(suffix))
    {
        Place::Nearby
    } else {
        Place::Hosted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x103_local_and_hosted_addresses_are_told_apart() {
        use Place::{Hosted, Loopback, Nearby};
        let table = [
            ("http://localhost:11434/v1", Loopback),
            ("http://LOCALHOST:1/v1", Loopback),
            ("http://127.0.0.1:8080/v1", Loopback),
            ("http://127.8.9.1/v1", Loopback),
            ("http://0.0.0.0:8000/v1", Loopback),
            ("http://2130706433/v1", Loopback), // 127.0.0.1 as one number
            ("http://[::1]:8080/v1", Loopback),
            ("http://[::ffff:127.0.0.1]/v1", Loopback),
            ("http://10.0.0.1/v1", Nearby),
            ("http://10.255.255.255/v1", Nearby),
            ("http://11.0.0.0/v1", Hosted),
            ("http://9.255.255.255/v1", Hosted),
            ("http://172.15.255.255/v1", Hosted),
            ("http://172.16.0.0/v1", Nearby),
            ("http://172.31.255.255/v1", Nearby),
            ("http://172.32.0.0/v1", Hosted),
            ("http://192.168.0.1/v1", Nearby),
            ("http://192.167.255.255/v1", Hosted),
            ("http://192.169.0.0/v1", Hosted),
            ("http://169.254.1.1/v1", Nearby),
            ("http://[fc00::1]/v1", Nearby),
            ("http://[fdff::1]/v1", Nearby),
            ("http://[fe80::1]/v1", Nearby),
            ("http://[febf::1]/v1", Nearby),
            ("http://[fec0::1]/v1", Hosted),
            ("http://[2001:db8::1]/v1", Hosted),
            ("http://gpu.local:8000/v1", Nearby),
            ("http://gpu.local.:8000/v1", Nearby),
            ("http://gpubox:8000/v1", Nearby),
            ("https://notlocal/v1", Nearby),
            ("https://local.example/v1", Hosted),
            ("https://localhost.example.com/v1", Hosted),
            ("https://api.openai.com/v1", Hosted),
            ("https://127.0.0.1.example.com/v1", Hosted),
        ];
        for (text, place) in table {
            assert_eq!(Address::parse(text).unwrap().place(), place, "{text}");
        }
    }

    #[test]
    fn servers_are_named_by_port_and_domain() {
        let table = [
            ("http://127.0.0.1:11434/v1", "Ollama at 127.0.0.1:11434"),
            ("http://127.0.0.1:8080/v1", "llama.cpp at 127.0.0.1:8080"),
            ("http://localhost:1234/v1", "LM Studio at localhost:1234"),
            ("http://[::1]:8000/v1", "vLLM at [::1]:8000"),
            ("http://127.0.0.1:9999/v1", "the model server at 127.0.0.1:9999"),
            ("https://api.openai.com/v1", "OpenAI at api.openai.com"),
            ("https://evilopenai.com/v1", "the model server at evilopenai.com"),
            (
                "https://models.example:8080/v1",
                "the model server at models.example:8080",
            ),
        ];
        for (text, described) in table {
            assert_eq!(Address::parse(text).unwrap().described(), described, "{text}");
        }
    }

    #[test]
    fn endpoints_keep_path_and_query_of_the_base() {
        for base in [
            "http://h.example/v1",
            "http://h.example/v1/",
            "http://h.example/v1//",
        ] {
            let address = Address::parse(base).unwrap();
            assert_eq!(
                address.endpoint("chat/completions").as_str(),
                "http://h.example/v1/chat/completions"
            );
            assert_eq!(address.at_root("/props").as_str(), "http://h.example/props");
        }
        let azure = Address::parse("https://h.openai.azure.com/openai/deployments/d?api-version=1").unwrap();
        assert_eq!(
            azure.endpoint("chat/completions").as_str(),
            "https://h.openai.azure.com/openai/deployments/d/chat/completions?api-version=1"
        );
    }

    #[test]
    fn useless_addresses_are_refused_with_words() {
        for text in ["", "localhost:8080/v1", "127.0.0.1:8080", "nonsense", "http://"] {
            assert!(
                matches!(Address::parse(text), Err(AddressError::NotAUrl(_))),
                "{text}"
            );
        }
        assert_eq!(
            Address::parse("ftp://h/v1"),
            Err(AddressError::Scheme("ftp".into()))
        );
        assert_eq!(
            Address::parse("https://me:secret@h.example/v1"),
            Err(AddressError::Credentials)
        );
    }
}
