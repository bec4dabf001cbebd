//! Names in rules: hosts, and tools of servers.

use std::fmt;

use super::RuleError;

/// A host: that name exactly, `*.docs.rs` for its sub-domains, `:port` for others than 80 and 443.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostName {
    name: String,
    sub_domains: bool,
    port: Option<u16>,
}

impl HostName {
    /// The rule for that host and port only; none where a rule cannot name it, like an IPv6 address.
    pub(crate) fn exactly(host: &str, port: u16) -> Option<Self> {
        let name = Self::read(&format!("{host}:{port}")).ok()?;
        (!name.sub_domains).then_some(name)
    }

    /// Whether the rule, which allows, covers a connection: without a port only to 80 and 443.
    pub(crate) fn covers(&self, host: &str, port: u16) -> bool {
        let port_fits = match self.port {
            Some(named) => named == port,
            None => matches!(port, 80 | 443),
        };
        port_fits && self.names(host)
    }

    /// Whether the rule, which bars, speaks about a connection: without a port about all ports.
    pub(crate) fn bars(&self, host: &str, port: u16) -> bool {
        self.port.is_none_or(|named| named == port) && self.names(host)
    }

    fn names(&self, host: &str) -> bool {
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        if self.sub_domains {
            host.strip_suffix(&self.name)
                .is_some_and(|front| front.len() > 1 && front.ends_with('.'))
        } else {
            host == self.name
        }
    }

    pub(super) fn read(value: &str) -> Result<Self, RuleError> {
        let value = value.trim();
        if value.is_empty() {
            return Err(RuleError::Empty {
                kind: "host",
                expected: "a host name",
                example: "host: docs.rs",
            });
        }
        let wrong = |problem: &str| RuleError::Value {
            value: value.to_owned(),
            expected: "a host name",
            problem: problem.to_owned(),
        };
        let (name, port) = match value.split_once(':') {
            None => (value, None),
            Some((name, port)) => {
                let digits = !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit());
                let port = port.parse::<u16>().ok().filter(|port| digits && *port > 0);
                (
                    name,
                    Some(port.ok_or_else(|| {
                        wrong(
                            "after the colon comes a port from 1 to 65535; leave out `http://` and the path",
                        )
                    })?),
                )
            }
        };
        let (sub_domains, name) = match name.strip_prefix("*.") {
            Some(rest) => (true, rest),
            None => (false, name),
        };
        if !name.is_ascii() {
            return Err(wrong("write a name that is not ASCII in its `xn--` form"));
        }
        let name = name.trim_end_matches('.').to_ascii_lowercase();
        if name.len() > 253 || !name.split('.').all(is_label) {
            return Err(wrong(
                "a name is made of letters, digits and `-` between dots, without `http://`, path or wildcard but a leading `*.`",
            ));
        }
        if sub_domains && !name.contains('.') {
            return Err(wrong(
                "sub-domains of a whole top-level domain are too many; name the domain too",
            ));
        }
        Ok(Self {
            name,
            sub_domains,
            port: port.filter(|port| !matches!(port, 80 | 443)),
        })
    }
}

impl fmt::Display for HostName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.sub_domains {
            f.write_str("*.")?;
        }
        f.write_str(&self.name)?;
        match self.port {
            Some(port) => write!(f, ":{port}"),
            None => Ok(()),
        }
    }
}

fn is_label(label: &str) -> bool {
    (1..=63).contains(&label.len())
        && !label.starts_with('-')
        && !label.ends_with('-')
        && label
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
}

/// One tool of one server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerTool {
    server: String,
    tool: String,
}

impl ServerTool {
    pub(super) fn read(value: &str) -> Result<Self, RuleError> {
        let value = value.trim();
        if value.is_empty() {
            return Err(RuleError::Empty {
                kind: "mcp",
                expected: "a server and a tool",
                example: "mcp: github/create_issue",
            });
        }
        let good = |name: &str| {
            (1..=128).contains(&name.len())
                && name
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
        };
        match value.split_once('/') {
            Some((server, tool)) if good(server) && good(tool) => Ok(Self {
                server: server.to_owned(),
                tool: tool.to_owned(),
            }),
            _ => Err(RuleError::Value {
                value: value.to_owned(),
                expected: "`server/tool`",
                problem: "both are names of letters, digits, `-`, `_` and `.`".to_owned(),
            }),
        }
    }
}

impl fmt::Display for ServerTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.server, self.tool)
    }
}
