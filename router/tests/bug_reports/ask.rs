//! A request of the script, and a member of a group.

use std::time::Duration;

use router::{
    DeploymentConfig, DeploymentId, Instant, KeyedRng, Origin, Overrides, Purpose, RequestId,
    Router, Seed,
};

use crate::results::span;

/// A request of the script.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    pub(crate) model: String,
    pub(crate) stream: bool,
    pub(crate) prompt_tokens: u32,
    pub(crate) origin: Origin,
    pub(crate) overrides: Option<Overrides>,
    /// Whom its picks are steered to, from the first: by the choice of its id, so only for
    /// simple-shuffle among equals, and only while the candidates stay as they are at its start.
    pub(crate) steered: Vec<String>,
    /// The caller goes away this long after asking.
    pub(crate) cancelled_after: Option<Duration>,
    /// Its call upstream is not cancelled with it.
    pub(crate) upstream_goes_on: bool,
    /// Which router it goes through.
    pub(crate) router: usize,
}

impl Ask {
    pub(crate) fn of(model: &str) -> Self {
        Self {
            model: model.to_owned(),
            stream: false,
            prompt_tokens: 10,
            origin: Origin::default(),
            overrides: None,
            steered: Vec::new(),
            cancelled_after: None,
            upstream_goes_on: false,
            router: 0,
        }
    }

    /// Steers its picks.
    pub(crate) fn to<const N: usize>(mut self, picks: [&str; N]) -> Self {
        self.steered = picks.map(str::to_owned).into();
        self
    }

    pub(crate) fn streamed(mut self) -> Self {
        self.stream = true;
        self
    }

    pub(crate) fn with(mut self, overrides: Overrides) -> Self {
        self.overrides = Some(overrides);
        self
    }

    pub(crate) fn cancelled_after(mut self, seconds: f64) -> Self {
        self.cancelled_after = Some(span(seconds));
        self
    }

    /// The call upstream goes on without its caller.
    pub(crate) fn upstream_goes_on(mut self) -> Self {
        self.upstream_goes_on = true;
        self
    }

    pub(crate) fn through(mut self, router: usize) -> Self {
        self.router = router;
        self
    }

    /// The next id whose draws pick whom the request is steered to.
    pub(crate) fn id_that_goes_there(&self, router: &Router, now: Instant, next: u64) -> RequestId {
        let candidates: Vec<&str> = (0..)
            .zip(&router.config().deployments)
            .filter(|(n, d)| {
                let cooled = router.cooled_until(now, DeploymentId(*n)).is_some();
                d.model_name == self.model && !d.blocked && !cooled
            })
            .map(|(_, d)| d.id.as_str())
            .collect();
        // A member that is out cannot be steered to.
        if !self
            .steered
            .iter()
            .all(|n| candidates.contains(&n.as_str()))
        {
            return RequestId(next);
        }
        let picks = |id: &u64| {
            (0..).zip(&self.steered).all(|(draw, name)| {
                let seed = seed_of(self.router);
                let mut rng = KeyedRng::new(seed, Purpose::named("router.pick"), *id, draw);
                candidates.get(rng.below(candidates.len().max(1))) == Some(&name.as_str())
            })
        };
        RequestId((next..).find(picks).expect("some id"))
    }
}

/// A deployment of a group.
pub(crate) fn member(name: &str) -> DeploymentConfig {
    let (group, id) = name.split_once(':').unwrap_or(("m", name));
    DeploymentConfig {
        id: id.to_owned(),
        model_name: group.to_owned(),
        model: format!("openai/fake-{id}"),
        ..DeploymentConfig::default()
    }
}

/// The seed of a router, by its place.
pub(crate) fn seed_of(router: usize) -> Seed {
    Seed(7 + router as u64)
}
