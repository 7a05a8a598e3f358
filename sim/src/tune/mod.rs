//! Which settings should I use? A search over settings that spends its runs where they decide.
//!
//! 1. **Screening**: which knobs matter at all, by elementary effects (`morris`).
//! 2. **Race**: candidates drawn over the knobs that matter meet the same luck, replication after
//!    replication; whoever is shown to be worse than the best so far is out (`race`).
//! 3. **Local search**: the neighbours of the best, one step of one knob away, race against it.
//! 4. **Proof**: the finalists and the present settings on seeds that nobody has seen.
//!
//! Runs are never cut short to save budget: the budget is on replications. All of it is a pure
//! function of the problem, the seed and what the runs give.

mod morris;
mod objective;
mod race;
mod search;
mod space;

pub use morris::Effect;
pub use objective::{Bound, Direction, Limit, Objective, ObjectiveError, PENALTY, Relation, WORST};
pub use search::{Budget, Evaluate, FEWEST, Finalist, Found, NEGLIGIBLE, probability_right, tune};
pub use space::{Candidate, Knob, Space};
