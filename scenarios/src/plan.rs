//! One run, ready to execute: what `sim` needs to know and nothing of the file it came from.
//!
//! A plan shares everything that is alike between runs (`Arc`), so that a grid of many thousand
//! plans costs little more than its list.

use std::{sync::Arc, time::Duration};

use mock_providers::ProviderSpec;
use router::{DeploymentId, Instant, RequestId, RouterConfig, Seed};

use crate::{client::Client, workload::Workload};

/// One run: an arm of the sweep with the randomness of one replication.
#[derive(Clone, Debug)]
pub struct RunPlan {
    /// Place of the arm in [`Scenario::arms`](crate::Scenario::arms).
    pub arm: usize,
    /// Number of the replication, from 0.
    pub replication: u32,
    /// The replication's own seed: the same in every arm, so that arms are compared on the same
    /// luck (common random numbers).
    pub seed: Seed,
    /// The router of this arm.
    pub router: Arc<RouterConfig>,
    /// The upstream of each deployment, in `model_list` order.
    pub providers: Arc<[ProviderBinding]>,
    /// Who asks what, when.
    pub workload: Arc<Workload>,
    /// How many routers there are.
    pub instances: Instances,
    /// What stands between those who ask and the routers; `None`: nothing.
    pub client: Option<Client>,
    /// What an operator does meanwhile, in order of time.
    pub actions: Arc<[Action]>,
    /// What counts as good service.
    pub slo: Slo,
    /// The start-up that is left out: requests that arrive before are simulated and not counted. Zero but
    /// in a study of a lasting state.
    pub warm_up: Duration,
}

/// The instances of the router. Requests go round them, and each decides by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Instances {
    /// How many, at least one.
    pub count: u32,
    /// Whether they share a store.
    pub shared_state: bool,
}

impl Default for Instances {
    fn default() -> Self {
        Self {
            count: 1,
            shared_state: false,
        }
    }
}

impl Instances {
    /// What the reader should know of them; nothing of a single one.
    pub(crate) fn told(self) -> Option<String> {
        let Self {
            count,
            shared_state,
        } = self;
        let store = match shared_state {
            true => "with a shared store",
            false => "without a shared store: each knows itself only",
        };
        (count > 1).then(|| format!("instances: {count} of the router, {store}"))
    }

    /// The instance, from 0, that a request goes to: round them by the call's number, and to the next
    /// with each retry of its caller.
    #[must_use]
    pub fn of_request(self, request: RequestId) -> usize {
        let number = request.call() + u64::from(request.retry());
        usize::try_from(number % u64::from(self.count)).unwrap_or_default()
    }
}

/// Something that an operator does at a moment of the run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Action {
    /// When.
    pub at: Instant,
    /// What.
    pub deed: Deed,
}

/// What an operator can do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Deed {
    /// End a deployment's cooldown; `None`: every running one.
    ClearCooldowns(Option<DeploymentId>),
}

/// The upstream behind one deployment.
#[derive(Clone, PartialEq, Debug)]
pub struct ProviderBinding {
    /// The scenario's key that it was bound by, or the preset's name where none matched.
    pub name: String,
    /// How it behaves.
    pub spec: Arc<ProviderSpec>,
}

/// Bounds within which an answer counts as good. `None`: any time is good.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Slo {
    /// From arrival to the end of the answer.
    pub latency: Option<Duration>,
    /// From arrival to the first token of the answer.
    pub first_token: Option<Duration>,
}

/// One cell of the grid.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Arm {
    /// Axis and value, in the order of the axes. Empty if the scenario sweeps nothing.
    pub labels: Vec<(String, String)>,
}

/// One dimension of the grid.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Axis {
    /// As written in the file.
    pub name: String,
    /// Its values as labels, in the file's order.
    pub values: Vec<String>,
}
