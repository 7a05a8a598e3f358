//! Watches a run and checks that what must always hold does hold, whatever the scenario. The numbers
//! are those of `router/INVARIANTS.md`.
//!
//! A [`Checker`] is an observer: it hears every input, every event and every decision of every router
//! of the run, and compares them with what it works out by itself from the plan and from what it heard
//! before. It calls no code that it checks: a rule that asked the router for the rule would agree with
//! any fault in it. What has more than one run (the replay of a journal, metrics, names, durations) is
//! in [`check_plan`].
//!
//! | file | rules |
//! | --- | --- |
//! | `rule.rs` | what a rule is told, and what it says |
//! | `once.rs` | each request is answered once; the clock |
//! | `trail.rs` | one bucket, and an answer that tells what happened |
//! | `flight.rs` | attempts in flight, slots, unfinished requests |
//! | `cooldowns.rs` | who may be picked, when a cooldown ends and how long it is |
//! | `attempts.rs` | retries and moves are bounded |
//! | `waits.rs` | a `retry-after` is waited for |
//! | `blame.rs` | whom a failure is charged to |
//! | `preferences.rs` | exclusions before preferences; pins; weights of zero |
//! | `limits.rs` | the router's own limits on requests a minute |
//! | `upstream.rs` | an attempt ends as its provider had it end |
//! | `quota.rs` | no provider lets more through than its quota |
//! | `recount.rs` | a report counted again |
//! | `check.rs` | a whole plan: its run, its report, its journal |
//! | `heard.rs` | a run in words, for those who compare two |

mod attempts;
mod blame;
mod check;
mod checker;
mod cooldowns;
mod flight;
mod heard;
mod limits;
mod once;
mod preferences;
mod quota;
mod recount;
mod rule;
mod trail;
mod upstream;
mod waits;

pub use check::{Checked, check_plan};
pub use checker::Checker;
pub(crate) use heard::{Heard, Timeless};
pub use rule::Violation;
