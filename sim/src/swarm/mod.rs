//! Random scenarios under every checker of [`invariants`](crate::invariants), and the cutting down of
//! one that breaks an invariant to a small one that still does.
//!
//! A run of the swarm is a scenario file made of choices ([`Draws`]), read as any other is: whatever a
//! file can say may come up, and what is found is a file again.
//!
//! | file | does |
//! | --- | --- |
//! | `draws.rs` | where choices come from: a seed, or a list that a property test shrinks |
//! | `generate.rs` | choices → a scenario |
//! | `deployments.rs`, `settings.rs`, `providers.rs`, `traffic.rs` | its parts |
//! | `tree.rs` | a scenario as a tree and as a file |
//! | `run.rs` | many runs over several threads |
//! | `check.rs` | a scenario under every rule, with its twins |
//! | `twins.rs` | scenarios that must run alike |
//! | `shrink.rs` | a small scenario that breaks the same invariant |

mod check;
mod deployments;
mod draws;
mod generate;
mod providers;
mod run;
mod settings;
mod shrink;
mod traffic;
mod tree;
mod twins;

pub use check::{check_tree, is_own};
pub use draws::Draws;
pub use generate::scenario;
pub use run::{Broken, Swarmed, swarm};
pub use shrink::{broken, plan_of, shrink};
pub use tree::text;
