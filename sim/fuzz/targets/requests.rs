//! A request over HTTP, as `routelab serve` and `routelab mock` read it.

#![no_main]

use libfuzzer_sys::fuzz_target;
use routelab_fuzz as _;

fuzz_target!(|data: &[u8]| {
    sim::fuzzed::request(data);
    mock_providers::fuzzed::request(data);
});
