//! `./dev fuzz html`: the engine around [`cairn_fuzz::html`].

#![no_main]

libfuzzer_sys::fuzz_target!(init: cairn_fuzz::seeds::write(&cairn_fuzz::seeds::html()), |data: &[u8]| {
    cairn_fuzz::html::check(data);
});
