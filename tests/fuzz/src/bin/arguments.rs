//! `./dev fuzz arguments`: the engine around [`cairn_fuzz::arguments`].

#![no_main]

libfuzzer_sys::fuzz_target!(init: cairn_fuzz::seeds::write(&cairn_fuzz::seeds::arguments()), |data: &[u8]| {
    cairn_fuzz::arguments::check(data);
});
