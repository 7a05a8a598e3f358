//! What can be typed for studies that choose their runs by themselves: `plan` and `probe`.

use clap::{Args, ValueEnum};

use super::{OutputArgs, ScenarioArgs};

#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub(crate) scenario: ScenarioArgs,
    /// The service level that every sized group must meet: bounds with `;` between them.
    #[arg(long, value_name = "WORDS", default_value = "success >= 99.5%")]
    pub(crate) slo: String,
    /// Loads, as multiples of the scenario's own.
    #[arg(
        long,
        value_name = "X1,X2",
        default_value = "1,1.5,2,3",
        conflicts_with = "growth"
    )]
    pub(crate) load: String,
    /// A growth in place of loads, compounded, as `10%/month` (or week, quarter, year). At most seven
    /// points in time are sized, evenly spread, today and the last among them.
    #[arg(long, value_name = "SHARE/PERIOD", requires = "periods")]
    pub(crate) growth: Option<String>,
    /// For how many periods it grows.
    #[arg(long = "for", value_name = "N", requires = "growth", value_parser = clap::value_parser!(u32).range(1..=120))]
    pub(crate) periods: Option<u32>,
    /// What is added: deployments (copies of those that are there, each with a quota of its own unless
    /// it has a pool), or quota (all limits of the providers and their concurrent slots, in tenths).
    #[arg(long, value_enum, default_value_t = Sized::Deployments)]
    pub(crate) size: Sized,
    /// What is out for the whole run, on top of what the scenario does: each is sized by itself.
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = [Out::None, Out::Deployment])]
    pub(crate) outage: Vec<Out>,
    /// With which confidence a size must be shown to meet the service level, in each line by itself.
    #[arg(long, value_name = "SHARE", default_value_t = 0.95)]
    pub(crate) confidence: f64,
    /// A further scenario in which the service level must be met as well; may be given several times.
    #[arg(long, value_name = "SCENARIO")]
    pub(crate) also: Vec<String>,
    /// The largest size: deployments of a group, or times its present quota. Default: 64 deployments,
    /// 16 times the quota.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub(crate) most: Option<u32>,
    /// Most replications of a size in the search, and again on fresh seeds.
    #[arg(long, value_name = "N", default_value_t = 160, value_parser = clap::value_parser!(u32).range(10..))]
    pub(crate) max_reps: u32,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// What a plan adds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Sized {
    /// Deployments.
    Deployments,
    /// Quota of the providers.
    Quota,
}

/// What is out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Out {
    /// Nothing.
    None,
    /// Any one deployment of a sized group (N−1).
    Deployment,
    /// All deployments of any one provider.
    Provider,
}

#[derive(Debug, Args)]
pub(crate) struct ProbeArgs {
    #[command(flatten)]
    pub(crate) scenario: ScenarioArgs,
    /// The push: more load, or an outage of every provider.
    #[arg(long, value_enum, default_value_t = Push::Load)]
    pub(crate) push: Push,
    /// What the load is multiplied by during the push; only with `--push load`.
    #[arg(long, value_name = "X", default_value_t = 3.0)]
    pub(crate) factor: f64,
    /// Seconds of steady load before the push.
    #[arg(long, value_name = "SECONDS", default_value_t = 120.0)]
    pub(crate) before: f64,
    /// How long the push lasts, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0)]
    pub(crate) length: f64,
    /// How long is watched after the push, in seconds. What has not recovered by then is told as that.
    #[arg(long, value_name = "SECONDS", default_value_t = 600.0)]
    pub(crate) watch: f64,
    /// The loads of the ramp: from, to and step, in multiples of the scenario's.
    #[arg(long, value_name = "FROM,TO,STEP", default_value = "0.5,2,0.25")]
    pub(crate) ramp: String,
    /// How long each load of the ramp lasts, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 120.0)]
    pub(crate) step: f64,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// What pushes a service.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Push {
    /// More load.
    Load,
    /// An outage of every provider.
    Outage,
}
