//! What to try, written down.

pub mod error;
mod plan;
pub mod schema;
pub mod workload;
pub mod yaml;

pub use error::ScenarioError;
pub use plan::{Arm, Axis, ProviderBinding, RunPlan, Slo};
pub use workload::{Arrival, Arrivals, Workload};
