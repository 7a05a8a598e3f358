//! What can be typed for `swarm`.

use std::{num::NonZeroUsize, path::PathBuf};

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct SwarmArgs {
    /// A scenario to check in the place of random ones: a file, or the name of a bundled scenario. The
    /// first replication of each arm is run.
    #[arg(conflicts_with_all = ["seed", "runs", "first", "out", "tries"])]
    pub(crate) scenario: Option<String>,
    /// Seed of the random scenarios. The same seed gives the same bytes.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// How many random scenarios; 0: until it is interrupted.
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub(crate) runs: u64,
    /// Number of the first.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) first: u64,
    /// Where the small scenario goes that breaks an invariant, if one does. A file that is there is
    /// replaced.
    #[arg(long, value_name = "FILE", default_value = "swarm-broken.yaml")]
    pub(crate) out: PathBuf,
    /// Most runs that are spent on making it small.
    #[arg(long, value_name = "N", default_value_t = 2_000)]
    pub(crate) tries: u32,
    /// Threads; as many as the machine has cores if not given. Results do not depend on it.
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<NonZeroUsize>,
}
