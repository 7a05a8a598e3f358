//! How much is needed? Sizes of model groups that meet a service level, found by simulation.
//!
//! A plan is changed as a whole and run again: more load ([`scenarios::Workload::times`]), another
//! size, something out ([`Change`]). What a size gives is judged by one-sided bounds over replications,
//! in a fixed number of looks ([`judge`], [`looks`]), and the size is found by doubling and halving
//! ([`smallest`]), for a larger size is taken not to serve worse. Which limit binds is found by lifting
//! each in turn ([`Lift`]).

mod change;
mod decide;
mod lift;
mod search;

pub use change::{Change, OutCase, asked_groups, has_quota, out_cases, present_size};
pub use decide::{Verdict, backlog_grows, judge, looks, worst};
pub use lift::Lift;
pub use search::{Reached, lowered, smallest};
