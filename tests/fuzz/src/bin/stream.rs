//! `./dev fuzz stream`: the engine around [`cairn_fuzz::stream`].

#![no_main]

libfuzzer_sys::fuzz_target!(init: cairn_fuzz::seeds::write(&cairn_fuzz::seeds::stream()), |data: &[u8]| {
    cairn_fuzz::stream::check(data);
});
