//! What a provider answers: statuses with their hints and error bodies, answers in Anthropic's words.

#![no_main]

use libfuzzer_sys::fuzz_target;
use routelab_fuzz as _;

fuzz_target!(|data: &[u8]| router::live::fuzzed::answer(data));
