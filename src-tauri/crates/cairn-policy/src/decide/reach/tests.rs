use std::path::PathBuf;

use cairn_protocol::{Mode, RuleScope};

use crate::{
    AddressWords, Approve, Carries, Decision, Edits, Effect, Granted, Places, Policy, Presence, Reading,
    RuleOrigin, RuleSet, Sandbox, Taint, decide,
};

fn granted(rules: &[&str]) -> Vec<Granted> {
    let granted = |text: &&str| Granted {
        rule: text.parse().unwrap(),
        scope: RuleScope::Project,
        origin: RuleOrigin::Config,
        at: 0,
    };
    rules.iter().map(granted).collect()
}

fn policy(allow: &[&str], ask: &[&str], deny: &[&str]) -> Policy {
    Policy {
        places: Places {
            root: PathBuf::from("/w/p"),
            home: None,
            own: Vec::new(),
        },
        mode: Mode::Manual,
        rules: RuleSet {
            allow: granted(allow),
            ask: granted(ask),
            deny: granted(deny),
            broken: None,
        },
        edits: Edits::AsMode,
        presence: Presence::Person,
        sandbox: Sandbox::NotEnforced,
        reading: Reading::InSandbox,
        taint: Taint::None,
    }
}

fn reach(host: &str, port: u16) -> Effect {
    Effect::ReachHost {
        host: host.to_owned(),
        port,
        carries: Carries::Little,
        words: AddressWords::Composed,
    }
}

/// `allow`, `deny`, or `ask` and what is offered.
fn verdict(policy: &Policy, effect: Effect) -> String {
    match decide(policy, &[effect]) {
        Decision::Allow { .. } => "allow".to_owned(),
        Decision::Deny { .. } => "deny".to_owned(),
        Decision::Ask(asked) => {
            assert!(!asked.filled, "a network card has no filled button");
            let offers: Vec<_> = asked.offers.iter().map(|offer| offer.rule.as_str()).collect();
            format!("ask {}", offers.join(", ")).trim_end().to_owned()
        }
    }
}

#[test]
fn p7_host_rules_cover_what_they_name() {
    let table = [
        ("docs.rs", "docs.rs", 443, "allow"),
        ("docs.rs", "docs.rs", 80, "allow"),
        ("docs.rs", "DOCS.rs", 443, "allow"),
        ("docs.rs", "docs.rs", 8080, "ask host: docs.rs:8080"),
        ("docs.rs:8080", "docs.rs", 8080, "allow"),
        ("docs.rs:8080", "docs.rs", 443, "ask host: docs.rs"),
        ("docs.rs", "www.docs.rs", 443, "ask host: www.docs.rs"),
        ("docs.rs", "evil-docs.rs", 443, "ask host: evil-docs.rs"),
        (
            "docs.rs",
            "docs.rs.evil.example",
            443,
            "ask host: docs.rs.evil.example",
        ),
        ("*.docs.rs", "www.docs.rs", 443, "allow"),
        ("*.docs.rs", "a.b.docs.rs", 443, "allow"),
        ("*.docs.rs", "docs.rs", 443, "ask host: docs.rs"),
        ("*.docs.rs", "evildocs.rs", 443, "ask host: evildocs.rs"),
        (
            "trusted.example",
            "trusted.example.evil.example",
            443,
            "ask host: trusted.example.evil.example",
        ),
        ("xn--pple-43d.com", "apple.com", 443, "ask host: apple.com"),
    ];
    for (rule, host, port, expected) in table {
        let rule = format!("host: {rule}");
        let policy = policy(&[&rule], &[], &[]);
        assert_eq!(
            verdict(&policy, reach(host, port)),
            expected,
            "{rule} for {host}:{port}"
        );
    }
}

#[test]
fn n38_other_ports_ask_and_the_card_names_them() {
    for port in [22, 25, 6379, 11211, 2375] {
        let Decision::Ask(asked) = decide(
            &policy(&["host: a.example"], &[], &[]),
            &[reach("a.example", port)],
        ) else {
            panic!("port {port} must ask");
        };
        assert!(
            asked.why.iter().any(|why| why.contains(&format!("port {port}"))),
            "{:?}",
            asked.why
        );
    }
}

#[test]
fn n57_an_address_that_carries_much_asks_whatever_the_rules_allow() {
    let effect = Effect::ReachHost {
        host: "evil.example".to_owned(),
        port: 443,
        carries: Carries::Much,
        words: AddressWords::Composed,
    };
    assert_eq!(verdict(&policy(&["host: evil.example"], &[], &[]), effect), "ask");
}

#[test]
fn n58_no_rule_is_offered_for_shared_hosts() {
    for host in [
        "evil.github.io",
        "huggingface.co",
        "www.npmjs.com",
        "pastebin.com",
        "webhook.site",
    ] {
        assert_eq!(verdict(&policy(&[], &[], &[]), reach(host, 443)), "ask", "{host}");
    }
}

#[test]
fn deny_and_ask_rules_without_a_port_hold_for_every_port() {
    let barred = policy(&["host: a.example"], &[], &["host: a.example"]);
    assert_eq!(verdict(&barred, reach("a.example", 443)), "deny");
    assert_eq!(verdict(&barred, reach("A.example", 8080)), "deny");
    assert_eq!(verdict(&barred, reach("b.example", 443)), "ask host: b.example");
    let asking = policy(&["host: a.example"], &["host: a.example"], &[]);
    assert_eq!(verdict(&asking, reach("a.example", 443)), "ask");
    let one_port = policy(&["host: a.example"], &[], &["host: a.example:81"]);
    assert_eq!(verdict(&one_port, reach("a.example", 443)), "allow");
    assert_eq!(verdict(&one_port, reach("a.example", 81)), "deny");
}

#[test]
fn p8_the_network_asks_in_every_mode() {
    for mode in [Mode::Manual, Mode::AcceptEdits, Mode::Auto, Mode::Plan] {
        let policy = Policy {
            mode,
            edits: Edits::Accepted,
            ..policy(&[], &[], &[])
        };
        assert_eq!(verdict(&policy, reach("a.example", 443)), "ask host: a.example");
        assert_eq!(verdict(&policy, Effect::SearchWeb), "ask web_search");
    }
}

#[test]
fn searching_is_settled_by_its_own_rule() {
    assert_eq!(
        verdict(&policy(&["web_search"], &[], &[]), Effect::SearchWeb),
        "allow"
    );
    assert_eq!(
        verdict(&policy(&["web_search"], &["web_search"], &[]), Effect::SearchWeb),
        "ask"
    );
    assert_eq!(
        verdict(&policy(&[], &[], &["web_search"]), Effect::SearchWeb),
        "deny"
    );
    assert_eq!(
        verdict(&policy(&["web_search"], &[], &[]), reach("a.example", 443)),
        "ask host: a.example"
    );
}

#[test]
fn a2_only_approve_all_covers_hosts_without_a_person() {
    for (approve, expected) in [
        (Approve::None, "deny"),
        (Approve::Edits, "deny"),
        (Approve::All, "allow"),
    ] {
        let policy = Policy {
            presence: Presence::Headless { approve },
            ..policy(&[], &[], &[])
        };
        assert_eq!(verdict(&policy, reach("a.example", 443)), expected);
        assert_eq!(verdict(&policy, Effect::SearchWeb), expected);
    }
}

#[test]
fn broken_settings_let_no_rule_allow_and_offer_none() {
    let mut policy = policy(&["host: a.example", "web_search"], &[], &[]);
    policy.rules.broken = Some("config.toml:1:1".to_owned());
    assert_eq!(verdict(&policy, reach("a.example", 443)), "ask");
    assert_eq!(verdict(&policy, Effect::SearchWeb), "ask");
}

#[test]
fn addresses_as_hosts_get_a_rule_only_where_a_rule_can_name_them() {
    assert_eq!(
        verdict(&policy(&[], &[], &[]), reach("93.184.216.34", 443)),
        "ask host: 93.184.216.34"
    );
    assert_eq!(
        verdict(&policy(&[], &[], &[]), reach("[2606:4700::1]", 443)),
        "ask"
    );
}
