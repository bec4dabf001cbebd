//! `./dev fuzz stream`: the engine around [`cairn_fuzz::stream`], for Chat Completions.

#![no_main]

use cairn_protocol::Api;

libfuzzer_sys::fuzz_target!(init: cairn_fuzz::seeds::write(&cairn_fuzz::seeds::stream()), |data: &[u8]| {
    cairn_fuzz::stream::check(Api::Openai, data);
});
