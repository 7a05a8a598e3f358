//! Runs plans in virtual time: one ([`simulate`]), or many at once ([`run_plans`]).
//!
//! A [`RunPlan`](scenarios::RunPlan) says who asks what and when, how the router is set, and how
//! each provider behaves. The engine draws the arrivals, asks the router what to do, asks the
//! providers how it goes, and jumps from event to event. It decides nothing and reads no clock: the
//! same plan gives the same bytes on any machine, in any build, on any number of threads.
//!
//! With the feature `live` there is [`serve`] too, a front door in real time for the same router, and
//! [`live_run()`], which runs a plan over HTTP.
//!
//! What is heard on the way is an [`Observer`](router::Observer): `reports`' recorder for tables
//! and pages, [`Story`] for the whole story of one request, `()` for nothing.

mod by_group;
pub mod calibrate;
pub mod capacity;
mod deadline;
mod error;
mod event_queue;
mod finder;
#[cfg(any(test, fuzzing))]
pub mod fuzzed;
mod hindsight;
pub mod invariants;
pub mod journal;
#[cfg(feature = "live")]
mod live_callers;
#[cfg(feature = "live")]
mod live_run;
mod operator;
pub mod probe;
mod recording;
mod request_list;
#[cfg(feature = "live")]
pub mod serve;
mod settled;
mod simulation;
mod spend_log;
mod start_up;
mod story;
pub mod swarm;
mod sweep_run;
pub mod tune;
mod unfinished;
mod verdict;
mod watch;

pub use by_group::record_groups;
pub use error::SimError;
pub use event_queue::EventQueue;
pub use finder::{Sought, find, first_of_each_blame};
pub use hindsight::{ATTEMPTS as HINDSIGHT_ATTEMPTS, add_hindsight, hindsight_good};
#[cfg(feature = "live")]
pub use live_run::{LiveRecord, LiveRun, live_record, live_run};
pub use recording::recorder_setup;
pub use request_list::request_list;
pub use simulation::{RunEnd, simulate, simulate_watched};
pub use spend_log::SpendLog;
pub use start_up::{StartUp, overload, start_up};
pub use story::{Line, Span, SpanKind, Story};
pub use sweep_run::{for_plans, record_run, run_plans, sweep_record};
pub use verdict::{ExpectError, Finding, Verdict, bound_text, judge, labels_text};
pub use watch::Watch;
