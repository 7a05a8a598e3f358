//! Alerts as plain data: what each says, and how urgent it is.

use serde::{Deserialize, Serialize};

use crate::{request::RequestId, time::Instant};

/// Something that operators are told.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Alert {
    /// When it came up.
    pub at: Instant,
    /// What it is.
    #[serde(flatten)]
    pub kind: AlertKind,
}

/// The kinds of alerts, by LiteLLM's names.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "alert_type", rename_all = "snake_case")]
pub enum AlertKind {
    /// A request failed, with everything that was tried for it.
    LlmExceptions {
        /// Which.
        request: RequestId,
        /// The name of LiteLLM's exception.
        exception: String,
        /// Its status, if it has one.
        status: Option<u16>,
        /// Whose failure surfaced, if it was a deployment's.
        deployment: Option<String>,
    },
    /// A deployment took longer for an answer than `alerting_threshold`.
    LlmTooSlow {
        /// For which request.
        request: RequestId,
        /// Who took so long.
        deployment: String,
        /// How long, in seconds.
        seconds: f64,
        /// The threshold, in seconds.
        threshold_seconds: f64,
    },
    /// A deployment gave many errors other than 400 within a minute.
    OutageAlerts {
        /// Which.
        deployment: String,
        /// How bad it is.
        severity: Severity,
        /// Errors so far.
        errors: u32,
    },
}

/// How bad an outage is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// At least five errors in a minute.
    Minor,
    /// At least ten.
    Major,
}

/// How urgent an alert is, in LiteLLM's words.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum AlertLevel {
    /// Worth knowing.
    Low,
    /// Worth a look.
    Medium,
    /// Worth getting up.
    High,
}

impl AlertKind {
    /// LiteLLM's name of the kind.
    #[must_use]
    pub const fn alert_type(&self) -> &'static str {
        match self {
            Self::LlmExceptions { .. } => "llm_exceptions",
            Self::LlmTooSlow { .. } => "llm_too_slow",
            Self::OutageAlerts { .. } => "outage_alerts",
        }
    }

    /// How urgent it is.
    #[must_use]
    pub const fn level(&self) -> AlertLevel {
        match self {
            Self::LlmTooSlow { .. } => AlertLevel::Low,
            Self::OutageAlerts {
                severity: Severity::Minor,
                ..
            } => AlertLevel::Medium,
            Self::LlmExceptions { .. }
            | Self::OutageAlerts {
                severity: Severity::Major,
                ..
            } => AlertLevel::High,
        }
    }

    /// What happened, in a line.
    #[must_use]
    pub fn message(&self) -> String {
        match self {
            Self::LlmExceptions {
                request,
                exception,
                status,
                deployment,
            } => {
                let status = status.map_or_else(String::new, |s| format!(" ({s})"));
                let of = deployment
                    .as_ref()
                    .map_or_else(String::new, |d| format!(" of {d}"));
                format!("request {request} failed: {exception}{status}{of}")
            }
            Self::LlmTooSlow {
                request,
                deployment,
                seconds,
                threshold_seconds,
            } => format!(
                "{deployment} took {seconds:.2} s for request {request}, more than \
                 {threshold_seconds:.2} s"
            ),
            Self::OutageAlerts {
                deployment,
                severity,
                errors,
            } => {
                let severity = match severity {
                    Severity::Minor => "minor",
                    Severity::Major => "major",
                };
                format!("{severity} outage of {deployment}: {errors} errors within a minute")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alert_is_plain_data_under_litellms_name_of_its_kind() {
        let alert = Alert {
            at: Instant::from_secs_f64(1.5),
            kind: AlertKind::OutageAlerts {
                deployment: "a".to_owned(),
                severity: Severity::Minor,
                errors: 5,
            },
        };

        let json = serde_json::to_value(&alert).expect("plain data");
        assert_eq!(
            json,
            serde_json::json!({
                "at": 1_500_000_000_u64,
                "alert_type": "outage_alerts",
                "deployment": "a",
                "severity": "minor",
                "errors": 5,
            })
        );
        assert_eq!(serde_json::from_value::<Alert>(json).expect("back"), alert);
    }
}
