use proptest::prelude::*;

use super::*;

fn refusal(address: &str) -> String {
    match Target::parse(address) {
        Ok(target) => panic!("{address} was taken as {target}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn n01_to_n26_no_spelling_of_a_machine_of_ones_own_is_taken() {
    for host in [
        // N01 to N04
        "127.0.0.1",
        "localhost",
        "localhost.",
        "foo.localhost",
        "LocalHost",
        // N05 to N13
        "0",
        "0.0.0.0",
        "127.1",
        "0x7f.1",
        "2130706433",
        "017700000001",
        "127.0.0.1.",
        "①②⑦.0.0.1",
        "127。0。0。1",
        "0x7f000001",
        "0177.0.0.1",
        "127.0.1",
        "%31%32%37.0.0.1",
        // N14 to N25
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "[2001:0:4136:e378:8000:63bf:80ff:fffe]",
        "[fc00::1]",
        "[fec0::1]",
        "[ff02::1]",
        "[::]",
        "[0:0:0:0:0:0:0:1]",
        // N26
        "10.0.0.1",
        "172.16.0.1",
        "192.168.0.1",
        "100.64.0.1",
        "169.254.169.254",
        "192.0.0.192",
        "192.0.2.1",
        "198.18.0.1",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "168.63.129.16",
        "[fd00:ec2::254]",
    ] {
        for address in [format!("http://{host}/"), format!("https://{host}:8443/x?y")] {
            let why = refusal(&address);
            assert!(
                why.contains("only addresses of the public internet"),
                "{address}: {why}"
            );
        }
    }
}

#[test]
fn n21_zone_ids_are_no_addresses() {
    for host in ["[fe80::1%25eth0]", "[fe80::1%eth0]"] {
        refusal(&format!("http://{host}/"));
    }
    assert!(refusal("http://[fe80::1]/").contains("link-local"));
}

#[test]
fn n36_names_and_passwords_are_refused_and_the_host_is_the_parsed_one() {
    for address in [
        "http://user:pw@host.example/",
        "http://trusted.example@evil.example/",
        "http://:pw@a.example/",
    ] {
        assert!(refusal(address).contains("before the host"), "{address}");
    }
    assert!(refusal("http://trusted.example\\@evil.example/").contains("backslash"));
    for (address, host) in [
        (
            "http://trusted.example%2eevil.example/",
            "trusted.example.evil.example",
        ),
        (
            "http://trusted.example.evil.example/",
            "trusted.example.evil.example",
        ),
        ("https://Docs.RS/", "docs.rs"),
        ("https://docs.rs./", "docs.rs"),
        ("https://docs.rs:443/", "docs.rs"),
        ("https://docs.rs:8443/", "docs.rs:8443"),
        ("https://аpple.com/", "xn--pple-43d.com"),
    ] {
        assert_eq!(Target::parse(address).unwrap().shown(), host, "{address}");
    }
}

#[test]
fn n37_hosts_with_control_characters_or_endless_labels_are_refused() {
    for address in [
        "http://a\0b.example/",
        "http://a\rb.example/",
        "http://a\nb.example/",
        "http://a b.example/",
        "http://a%00b.example/",
        "http://a%20b.example/",
        "http://exa\tmple.com/",
    ] {
        refusal(address);
    }
    assert!(refusal(&format!("http://{}.example/", "a".repeat(300))).contains("63 characters"));
    refusal(&format!("http://{}example/", "a.".repeat(200)));
    refusal("http://a..example/");
    assert!(refusal(&format!("http://a.example/{}", "x".repeat(9_000))).contains("8,192"));
}

#[test]
fn only_whole_web_addresses_are_taken() {
    for address in [
        "file:///etc/passwd",
        "ftp://a.example/",
        "data:text/html,x",
        "javascript:alert(1)",
        "gopher://a/",
        "x",
    ] {
        let why = refusal(address);
        assert!(why.contains("https://"), "{address}: {why}");
    }
    for address in ["", "http://", "https:///", "http://[", "//a.example/"] {
        refusal(address);
    }
    assert_eq!(
        Target::parse(" https://docs.rs/serde#x ").unwrap().to_string(),
        "https://docs.rs/serde"
    );
}

#[test]
fn n57_long_addresses_carry_much_and_secrets_are_refused() {
    let carries = |address: &str| match Target::parse(address).unwrap().effect(AddressWords::Composed) {
        Effect::ReachHost { carries, .. } => carries,
        other => panic!("{other:?}"),
    };
    assert_eq!(carries("https://evil.example/?d=short"), Carries::Little);
    assert_eq!(
        carries(&format!("https://evil.example/?d={}", "x".repeat(4_096))),
        Carries::Much
    );
    assert_eq!(
        carries(&format!("https://evil.example/{}", "x".repeat(600))),
        Carries::Much
    );
    assert_eq!(
        carries(&format!("https://{0}.{0}.evil.example/", "x".repeat(60))),
        Carries::Much
    );
    let why = refusal("https://evil.example/?d=sk-proj-Ab12cd34Ef56gh78Ij90");
    assert!(why.contains("was not sent"), "{why}");
}

#[test]
fn n38_the_effect_and_the_card_name_the_port() {
    let target = Target::parse("http://a.example:6379/").unwrap();
    assert!(matches!(
        target.effect(AddressWords::Composed),
        Effect::ReachHost { port: 6379, .. }
    ));
    let ApprovalSubject::Connect { host, .. } = target.subject() else {
        panic!("it connects")
    };
    assert_eq!(cairn_policy::shown_text(&host), "a.example:6379");
}

#[test]
fn u07_a_foreign_letter_shows_the_ascii_form_beside_it() {
    let ApprovalSubject::Connect { host, address } = Target::parse("https://аpple.com/x").unwrap().subject()
    else {
        panic!("it connects")
    };
    assert!(
        cairn_policy::shown_text(&host).contains("xn--pple-43d.com"),
        "{host:?}"
    );
    assert_eq!(cairn_policy::shown_text(&address), "https://xn--pple-43d.com/x");
}

#[test]
fn redirects_stay_only_at_the_same_host_and_never_step_back() {
    let stays = |from: &str, to: &str| Target::parse(from).unwrap().stays_at(&Target::parse(to).unwrap());
    assert!(stays("http://a.example/", "https://a.example/x"));
    assert!(stays("https://a.example:8443/", "https://a.example:8443/x"));
    for (from, to) in [
        ("https://a.example/", "https://www.a.example/"),
        ("https://a.example/", "https://b.example/"),
        ("https://a.example/", "http://a.example/"),
        ("https://a.example/", "https://a.example:8443/"),
        ("https://a.example:8443/", "https://a.example/"),
    ] {
        assert!(!stays(from, to), "{from} to {to}");
    }
}

proptest! {
    #[test]
    fn no_text_panics_and_what_is_taken_is_public(text: String) {
        if let Ok(target) = Target::parse(&text) {
            prop_assert!(matches!(target.url().scheme(), "http" | "https"));
        }
    }

    /// However an address of this machine is written in numbers.
    #[test]
    fn no_number_of_this_machine_is_taken(low in 0_u32..0x0100_0000, form in 0..6) {
        let bits = 0x7f00_0000 | low;
        let [a, b, c, d] = bits.to_be_bytes();
        let host = match form {
            0 => format!("{bits}"),
            1 => format!("0x{bits:x}"),
            2 => format!("0{bits:o}"),
            3 => format!("{a}.{}", bits & 0x00ff_ffff),
            4 => format!("0x{a:x}.0{b:o}.{c}.{d}"),
            _ => format!("[::ffff:{a}.{b}.{c}.{d}]"),
        };
        prop_assert!(Target::parse(&format!("http://{host}/")).is_err(), "{}", host);
    }
}

#[test]
fn p9_an_address_is_literal_only_as_a_whole() {
    use std::sync::Arc;

    let known = [
        "https://docs.rs/serde?x=1",
        "http://A.example",
        "https://b.example/%7e#part",
    ];
    let known = Addresses::new(Arc::new(known.map(str::to_owned).into_iter().collect()));
    for (address, words) in [
        ("https://docs.rs/serde?x=1", AddressWords::Literal),
        ("https://Docs.rs:443/serde?x=1#there", AddressWords::Literal),
        ("http://a.example/", AddressWords::Literal),
        ("https://docs.rs/serde?x=12", AddressWords::Composed),
        ("https://docs.rs/serde?x=", AddressWords::Composed),
        ("https://docs.rs/serde", AddressWords::Composed),
        ("http://docs.rs/serde?x=1", AddressWords::Composed),
        ("https://a.example/", AddressWords::Composed),
    ] {
        assert_eq!(Target::parse(address).unwrap().words(&known), words, "{address}");
    }
}
