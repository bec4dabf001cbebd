//! Which machines are reached. SPEC T24, cases N01 to N36, X121.

use std::sync::atomic::Ordering;

use cairn_policy::{AddressWords, Carries, Effect};

use crate::fixture::{Bench, Canary, text, to};

/// Every spelling of this machine and of others that are nobody else's business.
const SPELLINGS: &[&str] = &[
    "127.0.0.1",
    "localhost",
    "localhost.",
    "foo.localhost",
    "0",
    "0.0.0.0",
    "127.1",
    "0x7f.1",
    "2130706433",
    "017700000001",
    "127.0.0.1.",
    "①②⑦.0.0.1",
    "127。0。0。1",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]",
    "[2001:0:4136:e378:8000:63bf:80ff:fffe]",
    "[fe80::1%25eth0]",
    "[fc00::1]",
    "[fec0::1]",
    "[ff02::1]",
    "[::]",
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
];

#[tokio::test]
async fn n01_to_n26_no_spelling_of_an_address_of_ones_own_is_connected_to() {
    let canary = Canary::new().await;
    let bench = Bench::new(|_, _| text("secret")).await;
    for host in SPELLINGS {
        let outcome = bench.fetch(&format!("http://{host}:{}/", canary.port)).await;
        // Refused as what it is; that nobody answers there would fail as well.
        let refusals = ["was not connected to: it is", "was not fetched: "];
        assert!(
            !outcome.ok && refusals.iter().any(|words| outcome.content.contains(words)),
            "{host}: {}",
            outcome.content
        );
    }
    assert_eq!(bench.server.count(), 0);
    assert!(canary.is_silent().await);
}

#[tokio::test]
async fn x121_a_redirect_to_any_of_them_is_not_followed() {
    let canary = Canary::new().await;
    let port = canary.port;
    let bench = Bench::new(move |path, _| {
        let number: usize = path.trim_start_matches('/').parse().unwrap();
        to(&format!("http://{}:{port}/", SPELLINGS[number]))
    })
    .await;
    for (number, spelling) in SPELLINGS.iter().enumerate() {
        let outcome = bench.fetch(&format!("http://a.example/{number}")).await;
        // An address that cannot be read at all is no redirect, and the answer has no text.
        assert!(
            !outcome.ok || outcome.content.contains("is empty"),
            "{spelling}: {}",
            outcome.content
        );
    }
    assert!(canary.is_silent().await);
}

#[tokio::test]
async fn x121_a_public_name_that_resolves_to_one_of_them_is_not_connected_to() {
    let canary = Canary::new().await;
    let bench = Bench::new(|_, _| text("secret")).await;
    for (number, address) in [
        "127.0.0.1",
        "::1",
        "10.1.2.3",
        "192.168.1.1",
        "172.31.255.255",
        "169.254.169.254",
        "0.0.0.0",
        "::ffff:127.0.0.1",
        "64:ff9b::7f00:1",
        "2002:7f00:1::",
        "fe80::1",
        "fd00:ec2::254",
        "100.64.0.1",
        "224.0.0.1",
    ]
    .iter()
    .enumerate()
    {
        let host = format!("h{number}.example");
        bench.name(&host, &[&[address]]);
        let outcome = bench.fetch(&format!("http://{host}:{}/", canary.port)).await;
        assert!(
            !outcome.ok && outcome.content.contains("was not connected to"),
            "{address}: {}",
            outcome.content
        );
        assert!(
            outcome.content.contains("only addresses of the public internet"),
            "{address}"
        );
    }
    assert_eq!(
        bench.network.lookups.load(Ordering::SeqCst),
        14,
        "a refusal is not tried again"
    );
    assert!(canary.is_silent().await);
}

#[tokio::test]
async fn n28_a_name_that_changes_its_mind_is_only_reached_where_it_was_checked() {
    let bench = Bench::new(|_, number| {
        if number == 1 {
            to("/again")
        } else {
            text("reached")
        }
    })
    .await;
    // Each connection looks up once: what was checked is what is connected to.
    bench.name("a.example", &[&["93.184.216.34"], &["127.0.0.1"]]);
    let outcome = bench.fetch("http://a.example/").await;
    assert!(
        !outcome.ok && outcome.content.contains("this machine itself"),
        "{}",
        outcome.content
    );
    assert_eq!(bench.server.count(), 1);
    assert_eq!(bench.network.lookups.load(Ordering::SeqCst), 2);
    // Private ones among public ones are left out.
    bench.name("b.example", &[&["127.0.0.1", "93.184.216.34", "::1"]]);
    assert!(bench.fetch("http://b.example/").await.ok);
}

#[tokio::test]
async fn x121_a_redirect_to_another_host_asks_again() {
    let bench = Bench::new(|path, _| match path {
        "/same" => to("/end"),
        "/end" => text("the end"),
        "/loop" => to("/loop"),
        "/down" => to("http://a.example:81/"),
        _ => to("https://b.example/x?y=1"),
    })
    .await;
    let same = bench.fetch("http://a.example/same").await;
    assert!(same.ok && same.content.contains("the end") && same.content.starts_with("http://a.example/end"));
    let other = bench.fetch("http://a.example/other").await;
    assert!(
        other.content.contains("https://b.example/x?y=1") && other.content.contains("was not connected to")
    );
    assert_eq!(other.note, "redirect");
    let port = bench.fetch("http://a.example/down").await;
    assert!(port.content.contains("http://a.example:81/"), "{}", port.content);
    let before = bench.server.count();
    let endless = bench.fetch("http://a.example/loop").await;
    assert!(
        !endless.ok && endless.content.contains("more than 10 times"),
        "{}",
        endless.content
    );
    assert_eq!(bench.server.count() - before, 11);
}

#[tokio::test]
async fn n36_n57_what_is_declared_is_the_parsed_host_and_what_the_address_carries() {
    let bench = Bench::new(|_, _| text("x")).await;
    let effects = bench
        .prepare("https://Docs.RS./serde#x", 0)
        .await
        .unwrap()
        .effects;
    let expected = Effect::ReachHost {
        host: "docs.rs".to_owned(),
        port: 443,
        carries: Carries::Little,
        words: AddressWords::Composed,
    };
    assert_eq!(effects, [expected]);
    let long = format!("https://evil.example/?d={}", "x".repeat(4_096));
    let effects = bench.prepare(&long, 0).await.unwrap().effects;
    assert!(matches!(
        effects[0],
        Effect::ReachHost {
            carries: Carries::Much,
            ..
        }
    ));
    assert!(bench.prepare("http://user:pw@a.example/", 0).await.is_err());
    assert_eq!(bench.server.count(), 0, "preparing sends nothing");
}
