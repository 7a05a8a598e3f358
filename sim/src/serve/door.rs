//! Listens: how many connections at once, how long a head or a body may take, and how it stops.

use std::{
    collections::BTreeSet,
    io,
    net::SocketAddr,
    path::PathBuf,
    pin::pin,
    sync::{Arc, atomic::AtomicU64},
    time::Duration,
};

use axum::Router as Routes;
use futures_util::future::{Either, select};
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use router::{
    RouterConfig, Seed,
    live::{Clock, LiveOptions, LiveRouter, StartError},
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore, watch},
    task::JoinHandle,
    time::{sleep, timeout},
};

use super::{
    asked::Wanted,
    config::ServeConfig,
    metrics::Metrics,
    recorded::{self, Heard},
    routes::{self, Desk},
    stalled::Wire,
};
use crate::journal::Head;

/// Limits of a front door, and how its router is driven.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// The seed of the router's draws.
    pub seed: Seed,
    /// Connections at once; further ones wait to be taken.
    pub connections: u32,
    /// How long the head of a request may take, and how long a connection may rest between two.
    pub head_timeout: Duration,
    /// How long a body may take.
    pub body_timeout: Duration,
    /// How long a client may leave bytes of an answer unread before its connection, and with it its
    /// request, is ended.
    pub write_timeout: Duration,
    /// The largest body, in bytes.
    pub largest_body: usize,
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
            connections: 10_000,
            head_timeout: Duration::from_secs(30),
            body_timeout: Duration::from_secs(60),
            write_timeout: Duration::from_secs(60),
            largest_body: 64 << 20,
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
    connections: u32,
    places: Arc<Semaphore>,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
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
            largest_body: options.largest_body,
            body_timeout: options.body_timeout,
            models: models(&router),
            began: clock.epoch().unix_seconds(),
            numbers: AtomicU64::new(0),
        };
        let (stop, stopped) = watch::channel(false);
        let places = Arc::new(Semaphore::new(options.connections as usize));
        let porter = Porter {
            routes: Routes::new()
                .fallback(routes::answer)
                .with_state(Arc::new(desk)),
            places: Arc::clone(&places),
            head_timeout: options.head_timeout,
            write_timeout: options.write_timeout,
            stopped: stopped.clone(),
        };
        let keeper = keeps.then(|| {
            let keeping = recorded::keep(live.clone(), stopped, options.tell);
            tokio::spawn(keeping)
        });
        Ok(Self {
            address,
            live,
            connections: options.connections,
            places,
            stop,
            task: tokio::spawn(porter.receive(listener)),
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
        self.stop.send_replace(true);
        drop((&mut self.task).await);
        let all = self.places.acquire_many(self.connections);
        let drained = timeout(patience, all).await.is_ok();
        if let Some(keeper) = self.keeper.take() {
            drop(keeper.await);
            recorded::flush(&self.live, self.tell);
        }
        self.live.clone().close().await;
        drained
    }
}

impl Drop for FrontDoor {
    fn drop(&mut self) {
        self.stop.send_replace(true);
        self.task.abort();
    }
}

/// Takes connections.
struct Porter {
    routes: Routes,
    places: Arc<Semaphore>,
    head_timeout: Duration,
    write_timeout: Duration,
    stopped: watch::Receiver<bool>,
}

impl Porter {
    async fn receive(self, listener: TcpListener) {
        loop {
            let stopping = pin!(told(self.stopped.clone()));
            let taking = pin!(async {
                let place = Arc::clone(&self.places).acquire_owned().await.ok()?;
                Some((listener.accept().await, place))
            });
            match select(stopping, taking).await {
                Either::Left(_) | Either::Right((None, _)) => return,
                Either::Right((Some((Ok((stream, _)), place)), _)) => self.serve(stream, place),
                // Mostly too many open files: some will be closed.
                Either::Right((Some((Err(error), _)), _)) => {
                    tracing::warn!(%error, "a connection was not taken");
                    sleep(REST_AFTER_ERROR).await;
                }
            }
        }
    }

    fn serve(&self, stream: TcpStream, place: OwnedSemaphorePermit) {
        // Each frame leaves at its moment. Where the system refuses, some come together.
        drop(stream.set_nodelay(true));
        let service = TowerToHyperService::new(self.routes.clone());
        let stopped = self.stopped.clone();
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.head_timeout)
            .max_headers(MOST_HEADERS)
            .serve_connection(TokioIo::new(Wire::new(stream, self.write_timeout)), service);
        tokio::spawn(async move {
            let _place = place;
            let mut connection = pin!(connection);
            let stopping = pin!(told(stopped));
            // How a connection ends is its peer's affair.
            match select(connection.as_mut(), stopping).await {
                Either::Left(_) => {}
                Either::Right(_) => {
                    connection.as_mut().graceful_shutdown();
                    drop(connection.await);
                }
            }
        });
    }
}

/// Comes back when the front door is to stop.
async fn told(mut stopped: watch::Receiver<bool>) {
    drop(stopped.wait_for(|stopped| *stopped).await);
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

const REST_AFTER_ERROR: Duration = Duration::from_millis(50);
/// As many as hyper takes by itself.
const MOST_HEADERS: usize = 100;
