//! Bug reports of operators of LLM routers, as test cases: one file a kind, one or more tests a
//! report. Each scenario is played under the profiles of LiteLLM, where it shows the fault if that
//! version has it, and under `corrected`, where it shows what was expected.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "any other value fails the test"
)]

mod ask;
mod frames;
mod harness;
mod instances;
mod kind_01_cooldown_that_does_not_trigger;
mod kind_02_cooldown_that_triggers_wrongly;
mod kind_03_cooldown_length_and_expiry;
mod kind_04_policies_and_hints;
mod kind_04_retries_and_waiting;
mod kind_05_fallbacks_and_order;
mod kind_06_choosing_by_weight;
mod kind_07_usage_limits;
mod kind_08_latency;
mod kind_08_least_busy;
mod kind_09_concurrency;
mod kind_10_streaming_failures;
mod kind_11_time_limits;
mod kind_12_affinity_tags_and_wildcards;
mod kind_13_shared_state;
mod kind_14_recovery;
mod provider;
mod results;
