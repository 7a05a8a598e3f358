//! Posts alerts to a webhook: `alerting_config.webhook_url`. (semantics 9.3)
//!
//! Alerts are queued and posted every ten seconds, those of one kind in one message, as LiteLLM
//! does. A message has the field `text`, which Slack and its like show, and the alerts themselves
//! as `alerts`. Whoever routes never waits for it: a full queue drops the newest alerts and counts
//! them, and a webhook that fails is told in the log and no further.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use serde_json::json;
use tokio::{
    sync::{Notify, mpsc},
    task::JoinHandle,
    time::timeout,
};

use crate::alerts::Alert;

/// A webhook that alerts are posted to, by a task of its own.
#[derive(Debug)]
pub struct AlertWebhook {
    queue: mpsc::Sender<Alert>,
    dropped: Arc<AtomicU64>,
    closing: Arc<Notify>,
    task: JoinHandle<()>,
}

/// The webhook cannot be used at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WebhookError {
    /// Its address makes no sense.
    #[error("webhook_url `{url}` is no http or https address")]
    BadAddress {
        /// As given.
        url: String,
    },
    /// No client can be made.
    #[error("no client for the webhook can be made")]
    NoClient(#[source] reqwest::Error),
}

impl AlertWebhook {
    /// How often LiteLLM posts what is queued (observed).
    pub const FLUSH_EVERY: Duration = Duration::from_secs(10);

    /// Starts the task that posts, on the runtime that it is called in.
    ///
    /// # Errors
    /// If the address is no HTTP one.
    ///
    /// # Panics
    /// If it is called outside a tokio runtime.
    pub fn start(url: &str, flush_every: Duration) -> Result<Self, WebhookError> {
        let bad = || WebhookError::BadAddress {
            url: url.to_owned(),
        };
        let address: reqwest::Url = url.parse().map_err(|_| bad())?;
        if !matches!(address.scheme(), "http" | "https") {
            return Err(bad());
        }
        let client = reqwest::Client::builder()
            .timeout(POST_TIMEOUT)
            .build()
            .map_err(WebhookError::NoClient)?;
        let (queue, alerts) = mpsc::channel(QUEUED_AT_MOST);
        let dropped = Arc::new(AtomicU64::new(0));
        let closing = Arc::new(Notify::new());
        let poster = Poster {
            client,
            address,
            dropped: Arc::clone(&dropped),
            closing: Arc::clone(&closing),
        };
        let task = tokio::spawn(poster.run(alerts, flush_every));
        Ok(Self {
            queue,
            dropped,
            closing,
            task,
        })
    }

    /// Queues an alert. Never waits.
    pub fn post(&self, alert: Alert) {
        if self.queue.try_send(alert).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Posts what is queued, at once, and ends.
    pub async fn close(self) {
        drop(self.queue);
        self.closing.notify_one();
        if let Err(error) = self.task.await {
            tracing::warn!(%error, "the alert webhook did not end well");
        }
    }
}

/// The task behind a webhook.
struct Poster {
    client: reqwest::Client,
    address: reqwest::Url,
    dropped: Arc<AtomicU64>,
    closing: Arc<Notify>,
}

impl Poster {
    async fn run(self, mut alerts: mpsc::Receiver<Alert>, flush_every: Duration) {
        let flush_every = flush_every.max(Duration::from_millis(1));
        loop {
            drop(timeout(flush_every, self.closing.notified()).await);
            let (queued, open) = drain(&mut alerts);
            self.flush(queued).await;
            if !open {
                return;
            }
        }
    }

    /// Posts one message for each kind of alert.
    async fn flush(&self, alerts: Vec<Alert>) {
        let dropped = self.dropped.swap(0, Ordering::Relaxed);
        if dropped > 0 {
            tracing::warn!(dropped, "alerts came faster than they could be queued");
        }
        let mut kinds: BTreeMap<&str, Vec<&Alert>> = BTreeMap::new();
        for alert in &alerts {
            kinds
                .entry(alert.kind.alert_type())
                .or_default()
                .push(alert);
        }
        for (kind, alerts) in kinds {
            self.send(kind, &alerts).await;
        }
    }

    async fn send(&self, kind: &str, alerts: &[&Alert]) {
        let body = json!({ "text": text(kind, alerts), "alerts": alerts }).to_string();
        let request = self
            .client
            .post(self.address.clone())
            .header(reqwest::header::CONTENT_TYPE, "application/json")
            .body(body);
        let sent = request.send().await;
        if let Err(error) = sent.and_then(reqwest::Response::error_for_status) {
            // The address is a secret of its own: whoever knows it can post.
            let error = error.without_url();
            tracing::warn!(%error, kind, alerts = alerts.len(), "alerts were not posted");
        }
    }
}

/// What is queued by now, and whether more may come.
fn drain(alerts: &mut mpsc::Receiver<Alert>) -> (Vec<Alert>, bool) {
    let mut queued = Vec::new();
    loop {
        match alerts.try_recv() {
            Ok(alert) => queued.push(alert),
            Err(mpsc::error::TryRecvError::Empty) => return (queued, true),
            Err(mpsc::error::TryRecvError::Disconnected) => return (queued, false),
        }
    }
}

/// A message for people: the first alert of the kind, and how many there are.
fn text(kind: &str, alerts: &[&Alert]) -> String {
    let count = match alerts.len() {
        0 | 1 => String::new(),
        n => format!(" ({n} of them)"),
    };
    let lines = alerts.iter().take(LINES_AT_MOST).map(|alert| {
        let (at, level) = (alert.at, alert.kind.level());
        format!("\n{level:?}, at {at}: {}", alert.kind.message())
    });
    let more = match alerts.len().saturating_sub(LINES_AT_MOST) {
        0 => String::new(),
        n => format!("\nand {n} more"),
    };
    format!("Alert: {kind}{count}{}{more}", lines.collect::<String>())
}

/// Alerts that wait for the next post.
const QUEUED_AT_MOST: usize = 1_000;
/// Alerts of one kind that a message spells out.
const LINES_AT_MOST: usize = 10;
/// A webhook that answers more slowly is taken as failed.
const POST_TIMEOUT: Duration = Duration::from_secs(5);
