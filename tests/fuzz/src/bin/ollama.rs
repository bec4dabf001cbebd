//! `./dev fuzz ollama`: the engine around [`cairn_fuzz::stream`], for Ollama's own protocol.

#![no_main]

use cairn_protocol::Api;

libfuzzer_sys::fuzz_target!(init: cairn_fuzz::seeds::write(&cairn_fuzz::seeds::ollama()), |data: &[u8]| {
    cairn_fuzz::stream::check(Api::Ollama, data);
});
