//! The network under the pipeline: names become addresses, those are filtered, and only what passed is connected to.
//!
//! Owns: that no address is used that was not checked. Must never know: HTTP.
//!
//! The check sits in the resolver that the connection itself uses, so there is no second look-up that could answer
//! otherwise (case N28).

use std::error::Error;
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use cairn_policy::address::{Refused, refused};
use futures_util::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::Reach;

/// What the pipeline stands on. The product uses [`Internet`]; tests answer names themselves and lead checked public
/// addresses to a server of their own. Not reachable from arguments or configuration.
pub trait Network: Send + Sync {
    /// Addresses of a name. Asked once for each connection.
    fn lookup(&self, host: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>>;

    /// Where a connection to an address that passed the filter goes: there. Port 0 stands for the one that the address
    /// asked for names.
    fn route(&self, checked: IpAddr) -> SocketAddr {
        SocketAddr::new(checked, 0)
    }
}

/// The system's resolver and network.
#[derive(Clone, Copy, Debug, Default)]
pub struct Internet;

impl Network for Internet {
    fn lookup(&self, host: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            let found = tokio::net::lookup_host((host, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}

/// The resolver that connections use.
pub(super) struct Vetted {
    pub(super) network: Arc<dyn Network>,
    pub(super) reach: Reach,
}

impl Resolve for Vetted {
    fn resolve(&self, name: Name) -> Resolving {
        let (network, reach) = (Arc::clone(&self.network), self.reach);
        let host = name.as_str().to_owned();
        Box::pin(async move {
            let found = network
                .lookup(host)
                .await
                .map_err(|error| Box::new(Unresolved(error.to_string())))?;
            let passed = vet(&found, reach)?;
            let routed: Vec<SocketAddr> = passed.into_iter().map(|address| network.route(address)).collect();
            let addresses: Addrs = Box::new(routed.into_iter());
            Ok(addresses)
        })
    }
}

/// The addresses that may be connected to; an error when none is left.
fn vet(found: &[IpAddr], reach: Reach) -> Result<Vec<IpAddr>, Box<dyn Error + Send + Sync>> {
    if found.is_empty() {
        return Err(Box::new(Unresolved("it has no address".to_owned())));
    }
    if reach == Reach::Configured {
        return Ok(found.to_vec());
    }
    let passed: Vec<IpAddr> = found
        .iter()
        .copied()
        .filter(|address| refused(*address).is_none())
        .collect();
    let barred = found
        .iter()
        .find_map(|address| Some((*address, refused(*address)?)));
    match (passed.is_empty(), barred) {
        (true, Some((address, why))) => Err(Box::new(BarredAddress { address, why })),
        _ => Ok(passed),
    }
}

/// A name whose addresses are all somebody's own.
#[derive(Debug)]
pub(super) struct BarredAddress {
    pub(super) address: IpAddr,
    pub(super) why: Refused,
}

impl fmt::Display for BarredAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "it resolves to {}, {}", self.address, self.why.as_str())
    }
}

impl Error for BarredAddress {}

/// A name without an address.
#[derive(Debug)]
pub(super) struct Unresolved(String);

impl fmt::Display for Unresolved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Unresolved {}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(text: &str) -> Vec<IpAddr> {
        text.split_ascii_whitespace()
            .map(|text| text.parse().unwrap())
            .collect()
    }

    #[test]
    fn x121_only_public_addresses_of_a_name_are_used() {
        let vetted = |text: &str| {
            vet(&addresses(text), Reach::Public).map_or_else(
                |error| format!("refused: {error}"),
                |passed| {
                    let texts: Vec<_> = passed.iter().map(ToString::to_string).collect();
                    texts.join(" ")
                },
            )
        };
        assert_eq!(vetted("93.184.216.34 2606:4700::1"), "93.184.216.34 2606:4700::1");
        assert_eq!(vetted("127.0.0.1 93.184.216.34 fc00::1"), "93.184.216.34");
        assert_eq!(vetted("::1"), "refused: it resolves to ::1, this machine itself");
        assert_eq!(
            vetted("169.254.169.254"),
            "refused: it resolves to 169.254.169.254, the metadata service of a cloud"
        );
        assert_eq!(vetted(""), "refused: it has no address");
    }

    #[test]
    fn a_host_that_the_user_configured_may_be_anywhere() {
        assert_eq!(
            vet(&addresses("127.0.0.1"), Reach::Configured).unwrap(),
            addresses("127.0.0.1")
        );
    }
}
