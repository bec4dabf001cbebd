use cairn_agent::tool::ContextStatus as Status;
use cairn_protocol::{ContextMeter, MeterPart, MeterShare, Usage};

use super::{grouped, outcome};

fn status() -> Status {
    Status {
        meter: ContextMeter {
            used: Some(12_400),
            window: Some(32_768),
            assumed: false,
            reserve: 4_096,
            compacts_at: Some(22_937),
            parts: vec![
                MeterShare {
                    part: MeterPart::Rules,
                    tokens: 2_100,
                },
                MeterShare {
                    part: MeterPart::Conversation,
                    tokens: 10_300,
                },
            ],
        },
        turns: 3,
        steps: (7, 50),
        usage: Usage {
            input_tokens: 1_234_567,
            cached_tokens: 1_000,
            cache_write_tokens: 0,
            output_tokens: 2_345,
            cost_usd: Some(0.0421),
        },
        tools: vec![
            ("read_file".to_owned(), 9, 1, 0),
            ("edit_file".to_owned(), 1, 0, 1),
        ],
    }
}

#[test]
fn t29_tells_window_use_compaction_cost_and_calls() {
    let outcome = outcome(&status());
    assert!(outcome.ok);
    assert_eq!(
        outcome.content,
        "Window: 32,768 tokens\n\
         Used: 12,400 tokens (37 %)\n\
         Free: 16,272 tokens, 4,096 kept for the reply\n\
         Filled by: rules and tools 2,100, conversation 10,300 (estimated tokens)\n\
         Compaction: strikes at 22,937 tokens, in 10,537 tokens\n\
         Requests: 3\n\
         Steps in this request: 7 of 50\n\
         Session: 1,234,567 tokens in (1,000 from the cache), 2,345 out\n\
         Cost: $0.0421\n\
         read_file: 9 calls (1 failed, 0 refused)\n\
         edit_file: 1 call (0 failed, 1 refused)"
    );
    assert_eq!(outcome.note, "37 % used");
}

#[test]
fn says_so_where_nothing_is_known() {
    let text = outcome(&Status::default()).content;
    for line in [
        "Window: not known",
        "Used: not known until the next reply",
        "Compaction: not known when",
        "Cost: no price known",
    ] {
        assert!(text.lines().any(|have| have == line), "{line} in {text}");
    }
}

#[test]
fn a_full_window_is_no_overflow() {
    let mut full = status();
    full.meter.used = Some(40_000);
    let text = outcome(&full).content;
    assert!(
        text.contains("Free: 0 tokens") && text.contains("due now"),
        "{text}"
    );
    full.meter.used = Some(u64::MAX);
    full.meter.window = Some(0);
    let _ = outcome(&full);
}

#[test]
fn thousands_are_set_apart() {
    for (number, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
        assert_eq!(grouped(number), text);
    }
}
