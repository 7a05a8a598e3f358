//! A LiteLLM config.

#![no_main]

use libfuzzer_sys::fuzz_target;
use routelab_fuzz as _;

fuzz_target!(|data: &[u8]| sim::fuzzed::config(data));
