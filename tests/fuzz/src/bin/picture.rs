//! `./dev fuzz picture`: the engine around [`cairn_fuzz::picture`].

#![no_main]

libfuzzer_sys::fuzz_target!(init: cairn_fuzz::seeds::write(&cairn_fuzz::seeds::picture()), |data: &[u8]| {
    cairn_fuzz::picture::check(data);
});
