//! What operators are told: events as alerts, by LiteLLM's rules. (semantics 9.3)
//!
//! [`Alerts`] hears a router's events and keeps the alerts as plain data; they never influence
//! routing. Whoever runs the router takes them from here: a report shows them, a live router posts
//! them to a webhook (feature `live`).

mod kinds;

use std::time::Duration;

pub use self::kinds::{Alert, AlertKind, AlertLevel, Severity};
use crate::{
    config::{Alerting, RouterConfig},
    observe::{Event, Observer},
    outcome::Outcome,
    request::{DeploymentId, RequestId},
    route_error::RouteError,
    step::Answer,
    time::Instant,
};

/// Hears a router and keeps what its operators are to be told.
#[derive(Clone, Debug)]
pub struct Alerts {
    threshold: Duration,
    /// By deployment: its name.
    names: Vec<String>,
    /// By deployment: its errors of the last minute.
    outages: Vec<OutageWindow>,
    alerts: Vec<Alert>,
    dropped: u64,
}

/// One deployment's errors since the first of them, for a minute.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct OutageWindow {
    ends: Instant,
    errors: u32,
    told: Option<Severity>,
}

impl Alerts {
    /// Will hear a router of this configuration; without `alerting_config` with LiteLLM's threshold.
    #[must_use]
    pub fn new(config: &RouterConfig) -> Self {
        let alerting = config.settings.alerting.as_ref();
        let names: Vec<String> = config.deployments.iter().map(|d| d.id.clone()).collect();
        Self {
            threshold: alerting.map_or(Alerting::DEFAULT_THRESHOLD, |a| a.threshold),
            outages: vec![OutageWindow::default(); names.len()],
            names,
            alerts: Vec::new(),
            dropped: 0,
        }
    }

    /// The alerts that nobody took yet, the oldest first: ten thousand at most.
    #[must_use]
    pub fn pending(&self) -> &[Alert] {
        &self.alerts
    }

    /// Takes those alerts away.
    #[must_use]
    pub fn take(&mut self) -> Vec<Alert> {
        std::mem::take(&mut self.alerts)
    }

    /// Alerts that were lost because nobody took the ones before them.
    #[must_use]
    pub const fn dropped(&self) -> u64 {
        self.dropped
    }

    fn tell(&mut self, at: Instant, kind: AlertKind) {
        if self.alerts.len() < PENDING_AT_MOST {
            self.alerts.push(Alert { at, kind });
        } else {
            self.dropped += 1;
        }
    }

    fn name(&self, deployment: DeploymentId) -> String {
        self.names[deployment.index()].clone()
    }

    fn failed(&mut self, at: Instant, request: RequestId, error: &RouteError) {
        let kind = AlertKind::LlmExceptions {
            request,
            exception: error.exception().to_owned(),
            status: error.status(),
            deployment: error.deployment().map(|d| self.name(d)),
        };
        self.tell(at, kind);
    }

    fn ended(
        &mut self,
        at: Instant,
        request: RequestId,
        deployment: DeploymentId,
        took: Duration,
        outcome: &Outcome,
    ) {
        match outcome {
            Outcome::Success { .. } if took > self.threshold => {
                let kind = AlertKind::LlmTooSlow {
                    request,
                    deployment: self.name(deployment),
                    seconds: took.as_secs_f64(),
                    threshold_seconds: self.threshold.as_secs_f64(),
                };
                self.tell(at, kind);
            }
            Outcome::Success { .. } => {}
            Outcome::Failure(failure) if failure.status == Some(400) => {}
            Outcome::Failure(_) => {
                let window = &mut self.outages[deployment.index()];
                if let Some(severity) = window.error(at) {
                    let errors = window.errors;
                    let kind = AlertKind::OutageAlerts {
                        deployment: self.name(deployment),
                        severity,
                        errors,
                    };
                    self.tell(at, kind);
                }
            }
        }
    }
}

impl Observer for Alerts {
    fn observe(&mut self, at: Instant, event: &Event<'_>) {
        if let Event::Finished {
            request,
            deployment,
            took,
            outcome,
            ..
        } = *event
        {
            self.ended(at, request, deployment, took, outcome);
        } else if let Event::Answered {
            request,
            answer: Answer::Failed { error, .. },
        } = *event
        {
            self.failed(at, request, error);
        }
    }
}

impl OutageWindow {
    /// Counts an error; what is to be told, if it is the first to reach so many.
    fn error(&mut self, at: Instant) -> Option<Severity> {
        if at >= self.ends {
            *self = Self {
                ends: at + OUTAGE_WINDOW,
                ..Self::default()
            };
        }
        self.errors = (self.errors + 1).min(MAJOR_AT);
        let severity = match self.errors {
            MAJOR_AT.. => Severity::Major,
            MINOR_AT.. => Severity::Minor,
            _ => return None,
        };
        (self.told != Some(severity)).then(|| {
            self.told = Some(severity);
            severity
        })
    }
}

impl Alerting {
    /// `DEFAULT_SLACK_ALERTING_THRESHOLD`. (semantics 0)
    pub const DEFAULT_THRESHOLD: Duration = Duration::from_secs(300);
}

/// How long errors of a deployment are counted together. (semantics 9.3)
const OUTAGE_WINDOW: Duration = Duration::from_secs(60);
/// Errors that make a minor outage. (semantics 9.3)
const MINOR_AT: u32 = 5;
/// Errors that make a major one, and the most that are counted. (semantics 9.3)
const MAJOR_AT: u32 = 10;
/// Alerts that are kept for whoever takes them.
const PENDING_AT_MOST: usize = 10_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        outcome::{Failure, Usage},
        step::Trail,
    };

    fn at(seconds: f64) -> Instant {
        Instant::from_secs_f64(seconds)
    }

    fn alerts() -> Alerts {
        let mut config = RouterConfig::of_deployments(["a", "b"]);
        config.settings.alerting = Some(Alerting {
            threshold: Duration::from_secs(2),
            webhook_url: None,
        });
        Alerts::new(&config)
    }

    fn finish(alerts: &mut Alerts, seconds: f64, took: f64, outcome: &Outcome) {
        let event = Event::Finished {
            request: RequestId(7),
            deployment: DeploymentId(1),
            attempt: 0,
            took: Duration::from_secs_f64(took),
            outcome,
        };
        alerts.observe(at(seconds), &event);
    }

    fn fail(alerts: &mut Alerts, seconds: f64, status: u16) {
        let outcome = Outcome::Failure(Failure::with_status(status));
        finish(alerts, seconds, 0.1, &outcome);
    }

    fn severities(alerts: &Alerts) -> Vec<(Severity, u32)> {
        let outage = |alert: &Alert| match &alert.kind {
            AlertKind::OutageAlerts {
                severity, errors, ..
            } => Some((*severity, *errors)),
            AlertKind::LlmExceptions { .. } | AlertKind::LlmTooSlow { .. } => None,
        };
        alerts.pending().iter().filter_map(outage).collect()
    }

    #[test]
    fn five_errors_within_a_minute_are_a_minor_outage_and_ten_a_major_one_each_told_once() {
        let mut alerts = alerts();
        for n in 0..30 {
            fail(&mut alerts, f64::from(n), 500);
        }

        assert_eq!(
            severities(&alerts),
            [(Severity::Minor, 5), (Severity::Major, 10)]
        );
    }

    #[test]
    fn a_new_window_tells_again_and_errors_apart_tell_nothing() {
        let mut alerts = alerts();
        for n in 0..5 {
            fail(&mut alerts, f64::from(n), 429);
        }
        for n in 0..4 {
            fail(&mut alerts, 60.0 + f64::from(n), 429);
        }
        assert_eq!(severities(&alerts).len(), 1);

        fail(&mut alerts, 119.9, 503);
        assert_eq!(severities(&alerts).len(), 2);
    }

    #[test]
    fn errors_of_the_request_are_no_outage() {
        let mut alerts = alerts();
        for n in 0..30 {
            fail(&mut alerts, f64::from(n), 400);
        }

        assert!(alerts.pending().is_empty());
    }

    #[test]
    fn an_answer_above_the_threshold_is_told_and_one_at_it_is_not() {
        let mut alerts = alerts();
        let success = Outcome::Success {
            usage: Usage::new(1, 1),
            first_token_after: None,
        };
        finish(&mut alerts, 2.0, 2.0, &success);
        finish(&mut alerts, 5.0, 2.5, &success);

        let [alert] = alerts.pending() else {
            panic!("one alert, not {:?}", alerts.pending())
        };
        assert_eq!(alert.kind.level(), AlertLevel::Low);
        let message = "b took 2.50 s for request #7, more than 2.00 s";
        assert_eq!((alert.at, alert.kind.message()), (at(5.0), message.into()));
    }

    #[test]
    fn every_request_that_fails_is_told_and_alerts_are_taken_once() {
        let mut alerts = alerts();
        let answer = Answer::Failed {
            error: RouteError::Attempt {
                deployment: DeploymentId(0),
                failure: Failure::with_status(503),
            },
            trail: Trail {
                arrived: at(0.0),
                attempts: 1,
                fallbacks: 0,
                group: crate::request::ModelId(0),
                waited: Duration::ZERO,
                in_failed_attempts: Duration::ZERO,
                first_token: None,
            },
        };
        let event = Event::Answered {
            request: RequestId(3),
            answer: &answer,
        };
        alerts.observe(at(1.0), &event);

        let taken = alerts.take();
        assert_eq!(taken.len(), 1);
        assert_eq!(taken[0].kind.level(), AlertLevel::High);
        assert_eq!(
            taken[0].kind.message(),
            "request #3 failed: ServiceUnavailableError (503) of a"
        );
        assert!(alerts.take().is_empty());
    }
}
