//! What a service needs: the answer of a capacity plan as data, and how it is told.

mod picture;
#[cfg(feature = "render")]
mod section;
mod told;

use serde::{Deserialize, Serialize};

pub use picture::capacity_picture;
#[cfg(feature = "render")]
pub(crate) use section::capacity_section;
pub use told::{capacity_finding, capacity_markdown, capacity_table};

/// The answer of a capacity plan.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct CapacityRecord {
    /// What sizes count.
    pub unit: SizeUnit,
    /// The service level, as asked for.
    pub slo: String,
    /// Each line's own probability of being right where it says that a size is enough.
    pub confidence: f64,
    /// The groups that are sized.
    pub groups: Vec<CapacityGroup>,
    /// The largest size that was allowed.
    pub most: u32,
    /// What is needed, by load and by what is out.
    pub lines: Vec<CapacityLine>,
    /// What the present size carries.
    pub headroom: Vec<Headroom>,
}

/// What a size counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SizeUnit {
    /// Deployments of the group. A further one is a copy of one that is there, in the order of the
    /// `model_list` and over again, with a quota of its own unless the quota has a pool; of fewer, the
    /// last ones go.
    #[default]
    Deployments,
    /// Tenths of what the group's providers let through at present: every limit of their quotas and
    /// their concurrent slots, with `rpm` and `tpm` of the deployments.
    QuotaTenths,
}

/// What is out for the whole run, on top of what the scenario does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outage {
    /// Nothing.
    #[default]
    None,
    /// Any one deployment of a group that is sized.
    Deployment,
    /// All deployments of any one provider: of one fleet, else of one entry of the scenario's
    /// `providers`.
    Provider,
}

/// A group that is sized.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct CapacityGroup {
    /// Its `model_name`.
    pub name: String,
    /// Its present size.
    pub present: u32,
}

/// What one load with one kind of outage needs.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct CapacityLine {
    /// Times the scenario's load.
    pub load: f64,
    /// What the load is called, where it has a name: `month 6`.
    pub when: Option<String>,
    /// What is out.
    pub out: Outage,
    /// How the search for the size ended.
    pub found: SizeFound,
    /// The size of each group; empty where none was found.
    pub sizes: Vec<u32>,
    /// The service level at that size, each bound where it is tightest.
    pub measures: Vec<Measure>,
    /// Replications behind them.
    pub replications: u32,
    /// US dollars for a thousand requests, where known.
    pub cost_usd_per_1000_requests: Option<f64>,
    /// US dollars an hour of the scenario, where known.
    pub cost_usd_per_hour: Option<f64>,
    /// The size just below.
    pub below: Option<Below>,
}

/// How a search for a size ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SizeFound {
    /// The size is shown to do, on seeds that took no part in the search.
    #[default]
    Shown,
    /// The search ended at this size, and fresh seeds did not show that it does.
    NotShown,
    /// No size up to the largest that was allowed was shown to do.
    None,
}

/// A bound of the service level, and what was measured.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Measure {
    /// The metric's name.
    pub metric: String,
    /// The group whose requests it is about: a place in [`CapacityRecord::groups`].
    pub group: usize,
    /// What was out; empty for nothing.
    pub out: String,
    /// Mean over replications; `None` where a replication has no value.
    pub mean: Option<f64>,
    /// Half of its two-sided 95 % interval.
    pub half_width: Option<f64>,
    /// The limit.
    pub limit: f64,
    /// Whether it must be at least the limit; else at most.
    pub at_least: bool,
}

/// The size that has one less in one group.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Below {
    /// The group that has less: a place in [`CapacityRecord::groups`].
    pub group: usize,
    /// Its size.
    pub size: u32,
    /// The bound that is broken, or was not shown to hold.
    pub measure: Measure,
    /// Whether it is shown to be broken, or the backlog to grow.
    pub is_missed: bool,
    /// Whether the backlog grows through the run, so that what lasts is worse than what is measured.
    pub is_backlogged: bool,
    /// The limit that binds first: what gains most when it is lifted alone.
    pub bottleneck: Option<Bottleneck>,
    /// Why requests failed there, as exception and share of the failures, most frequent first.
    pub failures: Vec<(String, f64)>,
}

/// A limit that binds.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Bottleneck {
    /// What it is.
    pub limit: String,
    /// The mean of the broken metric without it.
    pub without: f64,
}

/// What the present size carries.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Headroom {
    /// With what out.
    pub out: Outage,
    /// The largest load that is shown to be carried, in steps of a twentieth; `None` if not even that.
    pub load: Option<f64>,
    /// Whether more was not tried: the load is the largest that was allowed.
    pub is_at_least: bool,
}

impl Outage {
    /// As told: `any one deployment out`.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::None => "nothing out",
            Self::Deployment => "any one deployment out",
            Self::Provider => "any one provider out",
        }
    }
}

impl SizeUnit {
    /// A size: `7`, `2.4×`.
    #[must_use]
    pub fn show(self, size: u32) -> String {
        match self {
            Self::Deployments => size.to_string(),
            Self::QuotaTenths => format!("{}.{}×", size / 10, size % 10),
        }
    }

    /// A size with what it counts: `7 deployments`, `2.4× the present quota`.
    #[must_use]
    pub fn show_whole(self, size: u32) -> String {
        let shown = self.show(size);
        match self {
            Self::Deployments if size == 1 => format!("{shown} deployment"),
            Self::Deployments => format!("{shown} deployments"),
            Self::QuotaTenths => format!("{shown} the present quota"),
        }
    }
}

impl CapacityRecord {
    /// The line that asks for most: the largest load with the most out.
    #[must_use]
    pub fn hardest(&self) -> Option<&CapacityLine> {
        let lines = self.lines.iter();
        lines.max_by(|a, b| a.load.total_cmp(&b.load).then(a.out.cmp(&b.out)))
    }

    /// Whether every line has a size that is shown to do.
    #[must_use]
    pub fn is_decided(&self) -> bool {
        let mut lines = self.lines.iter();
        lines.all(|line| line.found == SizeFound::Shown)
    }
}
