//! Listens: how many connections at once, how long a head or a body may take, and how it stops.

use std::{
    collections::BTreeSet,
    io,
    net::SocketAddr,
    path::PathBuf,
    sync::{Arc, atomic::AtomicU64},
    time::Duration,
};

use mock_providers::http::{Limits, Porter};
use router::{
    RouterConfig, Seed,
    live::{Clock, LiveOptions, LiveRouter, StartError},
};
use tokio::{net::TcpListener, task::JoinHandle};

use super::{
    asked::Wanted,
    config::ServeConfig,
    metrics::Metrics,
    recorded::{self, Heard},
    routes::{self, Desk},
};
use crate::journal::Head;

/// Limits of a front door, and how its router is driven.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// The seed of the router's draws.
    pub seed: Seed,
    /// What it bears of its clients.
    pub limits: Limits,
    /// Whether `HTTP_PROXY` and its like are obeyed on the way to providers.
    pub proxies: bool,
    /// Where every input and decision of the router is written, at the end of what is there.
    pub journal: Option<PathBuf>,
    /// Hears what an operator should know while the door is open.
    pub tell: fn(&str),
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            seed: Seed(0),
            limits: Limits {
                connections: 10_000,
                head_timeout: Duration::from_secs(30),
                ..Limits::default()
            },
            proxies: true,
            journal: None,
            tell: |_| (),
        }
    }
}

/// Why a front door does not open.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address is not to be had.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system says.
        source: io::Error,
    },
    /// The router does not start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The journal cannot be written.
    #[error("cannot write the journal {file}: {source}")]
    Journal {
        /// Its file.
        file: String,
        /// What the system says.
        source: io::Error,
    },
}

/// A front door that is open. It closes when this is dropped, or with [`stop`](Self::stop).
#[derive(Debug)]
pub struct FrontDoor {
    address: SocketAddr,
    live: LiveRouter<Heard>,
    porter: Porter,
    /// Keeps the journal, if there is one.
    keeper: Option<JoinHandle<()>>,
    tell: fn(&str),
}

impl FrontDoor {
    /// Opens a front door, in the tokio runtime that it is called in.
    ///
    /// # Errors
    ///
    /// If the router does not start, the address is not to be had, or the journal cannot be written.
    pub async fn open(
        config: ServeConfig,
        options: ServeOptions,
        address: SocketAddr,
    ) -> Result<Self, ServeError> {
        let clock = Clock::start();
        let driven = LiveOptions {
            clock,
            seed: options.seed,
            proxies: options.proxies,
            instances: 1,
            shared_state: false,
        };
        let listen = |source| ServeError::Listen { address, source };
        let listener = TcpListener::bind(address).await.map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        let router = RouterConfig {
            epoch: clock.epoch(),
            ..config.router
        };
        let begin = |file: PathBuf| {
            let begun = recorded::begin(&file, &Head::new(options.seed, &router));
            let file = file.display().to_string();
            begun.map_err(|source| ServeError::Journal { file, source })
        };
        let journal = options.journal.map(begin).transpose()?;
        let keeps = journal.is_some();
        let heard = (Metrics::default(), journal);
        let live = LiveRouter::start(&router, config.upstreams, driven, heard)?;
        let desk = Desk {
            live: live.clone(),
            master_key: config.master_key,
            wanted: Wanted::by(&router),
            limits: options.limits,
            models: models(&router),
            began: clock.epoch().unix_seconds(),
            numbers: AtomicU64::new(0),
        };
        let desk = Arc::new(desk);
        let porter = Porter::open(listener, options.limits, move |request, _| {
            routes::answer(Arc::clone(&desk), request)
        });
        let keeper = keeps.then(|| {
            let keeping = recorded::keep(live.clone(), porter.stopped(), options.tell);
            tokio::spawn(keeping)
        });
        Ok(Self {
            address,
            live,
            porter,
            keeper,
            tell: options.tell,
        })
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Requests that are not answered yet.
    #[must_use]
    pub fn unfinished(&self) -> usize {
        self.live.look(|router, _, _| router.unfinished())
    }

    /// Attempts under way, at all deployments.
    #[must_use]
    pub fn in_flight(&self) -> u32 {
        self.live.look(|router, _, _| {
            let deployments = router.config().deployments.len();
            let ids = (0..).map(router::DeploymentId).take(deployments);
            ids.map(|id| router.in_flight(id)).sum()
        })
    }

    /// Takes no more connections and no more requests on those that are open, lets requests under
    /// way end for so long, and then leaves them. `false`: some were left.
    pub async fn stop(mut self, patience: Duration) -> bool {
        let drained = self.porter.stop(patience).await;
        if let Some(keeper) = self.keeper.take() {
            drop(keeper.await);
            recorded::flush(&self.live, self.tell);
        }
        self.live.clone().close().await;
        drained
    }
}

/// Names that callers may ask for: groups and aliases, in the order of the config.
fn models(config: &RouterConfig) -> Vec<String> {
    let groups = config.deployments.iter().map(|d| &d.model_name);
    let aliases = config.settings.model_group_alias.keys();
    let mut seen = BTreeSet::new();
    let all = groups.chain(aliases);
    all.filter(|name| seen.insert((*name).clone()))
        .cloned()
        .collect()
}
