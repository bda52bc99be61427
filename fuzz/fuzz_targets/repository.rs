// SPDX-License-Identifier: MIT OR Apache-2.0
#![no_main]

libfuzzer_sys::fuzz_target!(
    // The engine of the database panics at some files, which is caught: a hook must not abort.
    init: std::panic::set_hook(Box::new(|_| {})),
    |input: &[u8]| orbium_fuzz_targets::repository(input)
);
