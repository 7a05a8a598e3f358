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

mod attempts;
mod blame;
mod check;
mod checker;
mod cooldowns;
mod flight;
mod once;
mod rule;
mod trail;
mod waits;

pub use check::{Checked, check_plan};
pub use checker::Checker;
pub use rule::Violation;
