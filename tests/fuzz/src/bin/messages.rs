//! `./dev fuzz messages`: the engine around [`cairn_fuzz::stream`], for Anthropic Messages.

#![no_main]

use cairn_protocol::Api;

libfuzzer_sys::fuzz_target!(init: cairn_fuzz::seeds::write(&cairn_fuzz::seeds::messages()), |data: &[u8]| {
    cairn_fuzz::stream::check(Api::Anthropic, data);
});
