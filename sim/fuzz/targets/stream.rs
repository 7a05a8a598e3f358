//! A stream of server-sent events, in whatever pieces it comes.

#![no_main]

use libfuzzer_sys::fuzz_target;
use routelab_fuzz as _;

fuzz_target!(|data: &[u8]| router::live::fuzzed::stream(data));
