//! A log in text: CSV, JSON or JSON lines, as `routelab calibrate` reads it.

#![no_main]

use libfuzzer_sys::fuzz_target;
use routelab_fuzz as _;

fuzz_target!(|data: &[u8]| sim::fuzzed::log("log", data));
