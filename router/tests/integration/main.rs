//! What recorded vectors do not show: how requests leave, who waits for whom, what an attempt may
//! take, and which mistakes of a driver are found out.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "any other step fails the test"
)]

mod affinity;
mod budgets;
mod cancelling;
mod candidates;
mod cooldowns;
mod deadlines;
mod defaults;
mod fallbacks;
mod harness;
mod last_look;
mod mirrors;
mod names;
mod pre_call_checks;
mod priority_queue;
mod rate_limits;
mod response_cache;
mod routing_groups;
mod sharing;
mod slots;
mod streams;
mod tags;
mod tokens;
mod trail;
