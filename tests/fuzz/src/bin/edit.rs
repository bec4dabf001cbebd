//! `./dev fuzz edit`: the engine around [`cairn_fuzz::edit`].

#![no_main]

libfuzzer_sys::fuzz_target!(init: cairn_fuzz::seeds::write(&cairn_fuzz::seeds::edit()), |data: &[u8]| {
    cairn_fuzz::edit::check(data);
});
