//! Providers over HTTP, in real time: `POST /v1/chat/completions` and `/v1/embeddings` as OpenAI has
//! them, `POST /v1/messages` as Anthropic has it, `GET /v1/models`, faults and all.
//!
//! The server decides nothing. [`Providers`](crate::Providers) say what each attempt gets, as in virtual
//! time; `exchange/` says which bytes that is; the server waits for the moments and sends them.
//!
//! | file | does |
//! | --- | --- |
//! | `desk.rs` | keeps the providers and what was seen; hears the clock |
//! | `serve.rs` | reads requests, plays exchanges |
//! | `porter.rs`, `limits.rs` | takes connections, and bears slow and large ones only so far |
//! | `connection.rs` | resets a connection where the model says so, ends one whose peer does not read |
//! | `control.rs`, `seen.rs`, `metrics.rs` | lets a test change providers and see what came |

mod connection;
mod control;
mod desk;
mod limits;
mod metrics;
mod porter;
mod seen;
mod serve;

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use router::{Epoch, Seed};
use tokio::net::TcpListener;

use self::desk::Desk;
pub use self::{
    connection::Fuse,
    limits::{BadBody, Limits},
    porter::Porter,
};
use crate::{clock::Clock, error::SpecError, spec::ProviderSpec};

/// A provider of the server, and by which names it is called.
#[derive(Clone, PartialEq, Debug)]
pub struct Upstream {
    /// Its name: the first part of a path (`/east/v1/chat/completions`), or the model of a request to
    /// `/v1/…`. That called `default` gets what no name fits.
    pub name: String,
    /// Other models that are asked of it at `/v1/…`. Of several that fit, the first is asked.
    pub models: Vec<String>,
    /// What it does.
    pub spec: ProviderSpec,
}

/// What a server is started with.
#[derive(Clone, PartialEq, Debug)]
pub struct ServerOptions {
    /// The providers, one at least.
    pub upstreams: Vec<Upstream>,
    /// The seed of their luck.
    pub seed: Seed,
    /// Tokens that a model says where nothing else does.
    pub output_tokens: u32,
    /// What it bears of its clients.
    pub limits: Limits,
}

impl ServerOptions {
    /// One provider that is called whatever the model.
    #[must_use]
    pub fn of(spec: ProviderSpec) -> Self {
        Self {
            upstreams: vec![Upstream {
                name: DEFAULT.to_owned(),
                models: Vec::new(),
                spec,
            }],
            seed: Seed(0),
            output_tokens: 50,
            limits: Limits::default(),
        }
    }
}

/// Why a server does not start.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The address is not to be had.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system says.
        source: io::Error,
    },
    /// There is no provider.
    #[error("there is no provider; one at least is needed")]
    Nobody,
    /// A provider cannot be built.
    #[error("provider {name}: {source}")]
    Provider {
        /// Its name.
        name: String,
        /// Why.
        source: SpecError,
    },
}

/// A server at work. It ends when this is dropped, or with [`stop`](Self::stop).
///
/// ```
/// use mock_providers::{ProviderSpec, http::{MockServer, ServerOptions}};
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
/// # runtime.block_on(async {
/// let spec: ProviderSpec = serde_json::from_str(
///     r#"{"preset": "generic", "faults": [{"scripted": {"steps": [{"outage": {}}]}}]}"#,
/// ).unwrap();
/// let server = MockServer::start(&ServerOptions::of(spec), ([127, 0, 0, 1], 0).into()).await.unwrap();
/// // A client is given `server.url()` as its base URL.
/// assert!(server.url().starts_with("http://127.0.0.1:"));
/// # });
/// ```
#[derive(Debug)]
pub struct MockServer {
    address: SocketAddr,
    desk: Arc<Desk>,
    porter: Porter,
}

impl MockServer {
    /// Listens on `address`, of which the port may be 0, and serves from then on.
    ///
    /// # Errors
    ///
    /// If there is no provider, one cannot be built, or the address is not to be had.
    pub async fn start(options: &ServerOptions, address: SocketAddr) -> Result<Self, ServerError> {
        Self::start_at(Clock::start(), options, address).await
    }

    /// The same in the time of a run, which begins now: its wall clock says `epoch`, and `speed`
    /// seconds of it pass in one of the wall's.
    ///
    /// # Errors
    ///
    /// As [`start`](Self::start).
    ///
    /// # Panics
    ///
    /// If `speed` is not a finite number above zero.
    pub async fn start_run(
        options: &ServerOptions,
        address: SocketAddr,
        epoch: Epoch,
        speed: f64,
    ) -> Result<Self, ServerError> {
        assert!(
            speed.is_finite() && speed > 0.0,
            "a clock goes forward, found a speed of {speed}"
        );
        Self::start_at(Clock::of_run(epoch, speed), options, address).await
    }

    async fn start_at(
        clock: Clock,
        options: &ServerOptions,
        address: SocketAddr,
    ) -> Result<Self, ServerError> {
        let desk = Arc::new(Desk::new(options, clock)?);
        let listen = |source| ServerError::Listen { address, source };
        let listener = TcpListener::bind(address).await.map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        let (served, limits) = (Arc::clone(&desk), options.limits);
        let porter = Porter::open(listener, limits, move |request, fuse| {
            serve::answer(Arc::clone(&served), limits, request, fuse)
        });
        Ok(Self {
            address,
            desk,
            porter,
        })
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where it listens, as a URL without a path.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// How long after its moment the latest byte left, in the time that the server counts: where that is
    /// long the machine cannot keep up.
    #[must_use]
    pub fn latest(&self) -> Duration {
        self.desk.latest()
    }

    /// Takes no more connections, lets exchanges end for so long, and then cuts those that have not.
    pub async fn stop(mut self, patience: Duration) {
        if !self.porter.stop(patience).await {
            self.desk.close();
            self.porter.stop(LAST_PATIENCE).await;
        }
    }
}

impl Drop for MockServer {
    fn drop(&mut self) {
        self.desk.close();
    }
}

const DEFAULT: &str = "default";
/// Connections that were cut need a moment to be gone.
const LAST_PATIENCE: Duration = Duration::from_millis(500);
