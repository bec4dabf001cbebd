//! `./dev fuzz line`: the engine around [`cairn_fuzz::line`].

#![no_main]

libfuzzer_sys::fuzz_target!(init: cairn_fuzz::seeds::write(&cairn_fuzz::seeds::line()), |data: &[u8]| {
    cairn_fuzz::line::check(data);
});
