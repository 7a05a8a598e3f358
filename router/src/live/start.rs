//! What a live router is started with, and why it may not start.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use super::{
    alert_webhook::{AlertWebhook, WebhookError},
    clock::Clock,
    core::Core,
    driver::{LiveRouter, Shared, Target},
    payload::Endpoint,
    upstream::Upstream,
};
use crate::{config::RouterConfig, error::ConfigError, fleet::Fleet, observe::Observer, rng::Seed};

/// How a live router is driven.
#[derive(Clone, Copy, Debug)]
pub struct LiveOptions {
    /// What time it is.
    pub clock: Clock,
    /// The seed of the router's draws.
    pub seed: Seed,
    /// Whether `HTTP_PROXY` and its like are obeyed.
    pub proxies: bool,
    /// How many instances of the router there are, at least one. Requests go round them by their
    /// numbers ([`Fleet::of_request`]), and each decides by itself.
    pub instances: u32,
    /// Whether they share a store.
    pub shared_state: bool,
}

/// Why a live router does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The core refuses its settings.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Each deployment needs whom to call.
    #[error("{deployments} deployments have {upstreams} upstreams; each needs exactly one")]
    UpstreamCount {
        /// Entries of the `model_list`.
        deployments: usize,
        /// Upstreams given.
        upstreams: usize,
    },
    /// A deployment cannot be called.
    #[error("deployment `{deployment}` cannot be called: {why}")]
    Upstream {
        /// Its id.
        deployment: String,
        /// What is amiss.
        why: String,
    },
    /// The alerts' webhook cannot be used.
    #[error(transparent)]
    Webhook(#[from] WebhookError),
    /// No HTTP client can be made.
    #[error("no HTTP client can be made")]
    NoClient(#[source] reqwest::Error),
}

impl<O: Observer + Send + 'static> LiveRouter<O> {
    /// Starts a router with whom to call for each deployment, in the order of the `model_list`.
    /// `config.epoch` is the clock's.
    ///
    /// # Errors
    ///
    /// If the core refuses the settings, a deployment cannot be called, or the webhook of alerts
    /// cannot be used.
    pub fn start(
        config: &RouterConfig,
        upstreams: Vec<Upstream>,
        options: LiveOptions,
        observer: O,
    ) -> Result<Self, StartError> {
        let LiveOptions {
            clock,
            seed,
            proxies,
            instances,
            shared_state,
        } = options;
        let mut config = config.clone();
        config.epoch = clock.epoch();
        if upstreams.len() != config.deployments.len() {
            return Err(StartError::UpstreamCount {
                deployments: config.deployments.len(),
                upstreams: upstreams.len(),
            });
        }
        let targets = config
            .deployments
            .iter()
            .zip(upstreams)
            .map(|(deployment, upstream)| {
                Target::new(upstream).map_err(|why| StartError::Upstream {
                    deployment: deployment.id.clone(),
                    why,
                })
            })
            .collect::<Result<_, _>>()?;
        let settings = &config.settings;
        let hook = settings.alerting.as_ref();
        let hook = hook.and_then(|alerting| alerting.webhook_url.as_deref());
        let webhook = hook
            .map(|url| AlertWebhook::start(url, AlertWebhook::FLUSH_EVERY))
            .transpose()?;
        let mut client = reqwest::Client::builder().connect_timeout(CONNECT_TIMEOUT);
        if !proxies {
            client = client.no_proxy();
        }
        let fleet = Fleet::new(&config, seed, instances, shared_state)?;
        let first_names = fleet.at(0).names();
        let shared = Shared {
            core: Core::new(fleet, observer, webhook),
            clock,
            profile: config.profile,
            targets,
            client: client.build().map_err(StartError::NoClient)?,
            answers: settings.cache_responses.then(Mutex::default),
            caching_groups: settings.caching_groups.clone(),
            first_names,
        };
        Ok(Self {
            shared: Arc::new(shared),
        })
    }
}

impl Target {
    fn new(upstream: Upstream) -> Result<Self, String> {
        upstream.url(Endpoint::Chat, "model")?;
        let headers = upstream.fixed_headers()?;
        Ok(Self { upstream, headers })
    }
}

/// Bounds what the client library waits for a connection, within the attempt's own limit.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(60);
