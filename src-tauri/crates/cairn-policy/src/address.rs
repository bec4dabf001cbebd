//! Addresses of the network: which of them are somebody's own and must not be reached on the word of a page. SPEC T24.
//!
//! Owns: the ranges. Must never know: names, and how they become addresses. What this lets pass is only what the
//! public internet routes; whatever is not known to be that is refused, so that a range nobody thought of is no hole.
//!
//! Sources: the IANA registries of special-purpose addresses for IPv4 and IPv6 (RFC 6890 and its updates), RFC 4291
//! for the forms of IPv6, RFC 6052 and RFC 8215 for translated, RFC 3056 and RFC 4380 for tunnelled addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Why an address is not reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refused {
    /// This machine.
    Loopback,
    /// A network of somebody's own.
    Private,
    /// The next cable only; cloud machines find their keys there.
    LinkLocal,
    /// Gives a cloud machine its keys.
    Metadata,
    /// Many machines at once.
    Multicast,
    /// An IPv4 address in the clothes of IPv6, or one that is tunnelled.
    Embedded,
    /// Not routed on the public internet.
    Reserved,
}

impl Refused {
    /// What the address is, in words that go on after "it is".
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Loopback => "this machine itself",
            Self::Private => "an address of a private network",
            Self::LinkLocal => "a link-local address",
            Self::Metadata => "the metadata service of a cloud",
            Self::Multicast => "a multicast address",
            Self::Embedded => "an IPv4 address wrapped in an IPv6 one",
            Self::Reserved => "a reserved address",
        }
    }
}

/// Whether an address may be reached on the word of a model; none when it may.
pub fn refused(address: IpAddr) -> Option<Refused> {
    match address {
        IpAddr::V4(address) => refused_v4(address),
        IpAddr::V6(address) => refused_v6(address),
    }
}

/// First address, length of the prefix, what it is.
const V4: &[([u8; 4], u32, Refused)] = &[
    // Answers to virtual machines of one cloud, from a public range.
    ([168, 63, 129, 16], 32, Refused::Metadata),
    ([169, 254, 169, 254], 32, Refused::Metadata),
    ([100, 100, 100, 200], 32, Refused::Metadata),
    ([192, 0, 0, 192], 32, Refused::Metadata),
    // "This network": the system takes it for this machine.
    ([0, 0, 0, 0], 8, Refused::Loopback),
    ([127, 0, 0, 0], 8, Refused::Loopback),
    ([10, 0, 0, 0], 8, Refused::Private),
    ([100, 64, 0, 0], 10, Refused::Private),
    ([172, 16, 0, 0], 12, Refused::Private),
    ([192, 168, 0, 0], 16, Refused::Private),
    ([169, 254, 0, 0], 16, Refused::LinkLocal),
    ([192, 0, 0, 0], 24, Refused::Reserved),
    ([192, 0, 2, 0], 24, Refused::Reserved),
    ([192, 31, 196, 0], 24, Refused::Reserved),
    ([192, 52, 193, 0], 24, Refused::Reserved),
    ([192, 88, 99, 0], 24, Refused::Reserved),
    ([192, 175, 48, 0], 24, Refused::Reserved),
    ([198, 18, 0, 0], 15, Refused::Reserved),
    ([198, 51, 100, 0], 24, Refused::Reserved),
    ([203, 0, 113, 0], 24, Refused::Reserved),
    ([224, 0, 0, 0], 4, Refused::Multicast),
    ([240, 0, 0, 0], 4, Refused::Reserved),
];

fn refused_v4(address: Ipv4Addr) -> Option<Refused> {
    let bits = address.to_bits();
    V4.iter()
        .find(|(first, length, _)| same_prefix_v4(bits, Ipv4Addr::from(*first).to_bits(), *length))
        .map(|(.., why)| *why)
}

fn same_prefix_v4(a: u32, b: u32, length: u32) -> bool {
    (a ^ b).checked_shr(32 - length).unwrap_or(0) == 0
}

/// First address, length of the prefix, what it is. The first that fits says what it is called; only 2000::/3 can
/// pass at all.
const V6: &[([u16; 8], u32, Refused)] = &[
    ([0, 0, 0, 0, 0, 0, 0, 0], 127, Refused::Loopback),
    // Mapped, compatible, translated (SIIT, NAT64, local NAT64).
    ([0, 0, 0, 0, 0, 0xffff, 0, 0], 96, Refused::Embedded),
    ([0, 0, 0, 0, 0xffff, 0, 0, 0], 96, Refused::Embedded),
    ([0, 0, 0, 0, 0, 0, 0, 0], 96, Refused::Embedded),
    ([0x64, 0xff9b, 0, 0, 0, 0, 0, 0], 96, Refused::Embedded),
    ([0x64, 0xff9b, 1, 0, 0, 0, 0, 0], 48, Refused::Embedded),
    // Teredo and 6to4.
    ([0x2001, 0, 0, 0, 0, 0, 0, 0], 32, Refused::Embedded),
    ([0x2002, 0, 0, 0, 0, 0, 0, 0], 16, Refused::Embedded),
    ([0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254], 128, Refused::Metadata),
    ([0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254], 128, Refused::Metadata),
    ([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7, Refused::Private),
    ([0xfec0, 0, 0, 0, 0, 0, 0, 0], 10, Refused::Private),
    ([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10, Refused::LinkLocal),
    ([0xff00, 0, 0, 0, 0, 0, 0, 0], 8, Refused::Multicast),
    // Protocol assignments, documentation, anycast sinks.
    ([0x2001, 0, 0, 0, 0, 0, 0, 0], 23, Refused::Reserved),
    ([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32, Refused::Reserved),
    ([0x2620, 0x4f, 0x8000, 0, 0, 0, 0, 0], 48, Refused::Reserved),
    ([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20, Refused::Reserved),
];

fn refused_v6(address: Ipv6Addr) -> Option<Refused> {
    let bits = address.to_bits();
    let same = |first: &[u16; 8], length: u32| {
        let other = Ipv6Addr::from(*first).to_bits();
        (bits ^ other).checked_shr(128 - length).unwrap_or(0) == 0
    };
    let named = V6.iter().find(|(first, length, _)| same(first, *length));
    let is_global = same(&[0x2000, 0, 0, 0, 0, 0, 0, 0], 3);
    named
        .map(|(.., why)| *why)
        .or_else(|| (!is_global).then_some(Refused::Reserved))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn why(address: &str) -> Option<Refused> {
        refused(address.parse().unwrap())
    }

    #[test]
    fn n26_every_range_of_somebodys_own_is_refused_from_its_first_to_its_last_address() {
        let table = [
            (
                Refused::Loopback,
                "0.0.0.0 0.255.255.255 127.0.0.0 127.0.0.1 127.255.255.255 :: ::1",
            ),
            (
                Refused::Private,
                "10.0.0.0 10.0.0.1 10.255.255.255 172.16.0.0 172.31.255.255 192.168.0.1 192.168.255.255 100.64.0.1 \
                 100.127.255.255 fc00::1 fdff::1 fec0::1 feff::1",
            ),
            (Refused::LinkLocal, "169.254.0.1 169.254.255.255 fe80::1 febf::1"),
            (
                Refused::Metadata,
                "169.254.169.254 168.63.129.16 192.0.0.192 100.100.100.200 fd00:ec2::254",
            ),
            (Refused::Multicast, "224.0.0.1 239.255.255.255 ff02::1 ff0e::1"),
            (
                Refused::Embedded,
                "::ffff:127.0.0.1 ::ffff:8.8.8.8 ::127.0.0.1 ::8.8.8.8 ::ffff:0:127.0.0.1 64:ff9b::7f00:1 \
                 64:ff9b::808:808 64:ff9b:1::1 2002:7f00:1:: 2002:808:808::1 2001:0:4136:e378:8000:63bf:3fff:fdd2",
            ),
            (
                Refused::Reserved,
                "192.0.0.1 192.0.2.1 192.88.99.1 198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 240.0.0.1 \
                 255.255.255.255 2001:2::1 2001:10::1 2001:20::1 2001:db8::1 3fff::1 100::1 4000::1 8000::1 5f00::1 \
                 1::1 fe00::1",
            ),
        ];
        for (expected, addresses) in table {
            for address in addresses.split_ascii_whitespace() {
                assert_eq!(why(address), Some(expected), "{address}");
            }
        }
    }

    #[test]
    fn x121_public_addresses_beside_the_ranges_pass() {
        for address in "1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 \
                        169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.0 192.167.255.255 192.169.0.0 \
                        198.17.255.255 198.20.0.0 223.255.255.255 168.63.129.15 93.184.216.34 2606:4700:4700::1111 \
                        2001:4860:4860::8888 2001:200::1 2a00:1450:4001::1 2003::1"
            .split_ascii_whitespace()
        {
            assert_eq!(why(address), None, "{address}");
        }
    }

    proptest! {
        /// The standard library knows some of the ranges too.
        #[test]
        fn nothing_that_the_library_calls_local_passes(bits: u32, wide: u128) {
            let v4 = Ipv4Addr::from_bits(bits);
            if v4.is_loopback() || v4.is_private() || v4.is_link_local() || v4.is_multicast() || v4.is_broadcast()
                || v4.is_documentation() || v4.is_unspecified() {
                prop_assert!(refused(v4.into()).is_some());
            }
            let v6 = Ipv6Addr::from_bits(wide);
            if v6.is_loopback() || v6.is_multicast() || v6.is_unique_local() || v6.is_unicast_link_local() {
                prop_assert!(refused(v6.into()).is_some());
            }
            prop_assert!(refused(v4.to_ipv6_mapped().into()).is_some());
            prop_assert!(refused(v4.to_ipv6_compatible().into()).is_some());
        }
    }
}
