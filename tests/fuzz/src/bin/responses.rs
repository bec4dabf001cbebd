//! `./dev fuzz responses`: the engine around [`cairn_fuzz::stream`], for OpenAI Responses.

#![no_main]

use cairn_protocol::Api;

libfuzzer_sys::fuzz_target!(init: cairn_fuzz::seeds::write(&cairn_fuzz::seeds::responses()), |data: &[u8]| {
    cairn_fuzz::stream::check(Api::Responses, data);
});
