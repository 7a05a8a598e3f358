//! What one deployment is like: how long it takes, what it lets through, how it fails.

use reports::{
    fits::{LatencyFit, QuotaFit, Seen, per_minute},
    stats::size,
};
use scenarios::logs::{Log, LogResult, LogRow};
use serde::Serialize;

use super::{
    failures::{FailureFit, TimeLimit},
    traffic::{answered_tokens, counts},
    window::{Span, Window},
};

/// A deployment.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct DeploymentFit {
    /// Its id.
    pub id: String,
    /// The model group that it answers for.
    pub model: String,
    /// The model behind it.
    pub litellm_model: String,
    /// Attempts in the time that counts.
    pub attempts: usize,
    /// Answers among them.
    pub answers: usize,
    /// How long answers take; `None` with too few.
    pub latency: Option<LatencyFit>,
    /// What its 429s say.
    pub quota: Option<QuotaFit>,
    /// How it fails otherwise.
    pub failures: FailureFit,
}

/// Every deployment with attempts in `span`, the busiest first.
pub(crate) fn fit_all(
    log: &Log,
    window: &Window,
    span: Span,
    unknown: &mut Vec<String>,
) -> Vec<DeploymentFit> {
    let mut fits: Vec<DeploymentFit> = (0..log.deployments.len())
        .filter_map(|which| fit(log, window, span, which, unknown))
        .collect();
    fits.sort_by(|a, b| b.attempts.cmp(&a.attempts).then(a.id.cmp(&b.id)));
    fits
}

/// Rows of one deployment in `span`.
pub(crate) fn rows_of<'a>(
    log: &'a Log,
    window: &Window,
    span: Span,
    which: usize,
) -> Vec<&'a LogRow> {
    let asked = |row: &&LogRow| row.deployment == Some(which) && row.result != LogResult::Cached;
    window.rows(log, span).filter(asked).collect()
}

/// Fits one deployment; `None` without attempts in `span`.
pub(crate) fn fit(
    log: &Log,
    window: &Window,
    span: Span,
    which: usize,
    unknown: &mut Vec<String>,
) -> Option<DeploymentFit> {
    let deployment = &log.deployments[which];
    let rows = rows_of(log, window, span, which);
    if rows.is_empty() {
        return None;
    }
    let id = &deployment.id;
    let answered: Vec<&LogRow> = rows.iter().copied().filter(|row| is_answer(row)).collect();
    let limit = TimeLimit::of(&rows);
    let usual = usual_further(&answered);
    let seen = |late: bool| -> Vec<Seen> {
        let has_counts = knows_tokens(&answered);
        let limit = limit.as_ref().filter(|_| late);
        let of = |row: &&LogRow| seen(row, has_counts, limit, window.ends_ns);
        rows.iter().filter_map(of).collect()
    };
    let blind = LatencyFit::of(&seen(false), &usual);
    // Attempts cut off at the limit are slow answers, or answers that never come: if the others say that
    // hardly any would be so slow, they are the latter.
    let hangs = match (&limit, &blind) {
        (Some(limit), Some(fit)) => limit.are_hangs(fit, &usual, rows.len()),
        _ => false,
    };
    let unfinished = rows.iter().any(|row| row.result == LogResult::Unfinished);
    let latency = match (limit.is_some() && !hangs) || unfinished {
        true => LatencyFit::of(&seen(!hangs), &usual).or(blind),
        false => blind,
    };
    if latency.is_none() {
        unknown.push(format!(
            "{id}: {} answers are too few for a latency of its own; the scenario gives it that of the \
             busiest deployment with one, or none",
            answered.len()
        ));
    }
    if let Some(limit) = limit.as_ref().filter(|_| !hangs && latency.is_some()) {
        unknown.extend(limit.told(id, answered.len()));
    }
    let failures = FailureFit::of(window, span, &rows, limit, hangs);
    unknown.extend(failures.told(id));
    let tokens = |row: &LogRow| {
        f64::from(row.prompt_tokens.unwrap_or(0)) + f64::from(row.output_tokens.unwrap_or(0))
    };
    let minute_of = |row: &&LogRow| {
        let at_s = size(usize::try_from(row.start_ns.max(0)).unwrap_or(0)) / 1e9;
        (at_s, tokens(row), row.result == LogResult::Failure(429))
    };
    Some(DeploymentFit {
        id: id.clone(),
        model: log.models[deployment.model].clone(),
        litellm_model: deployment.litellm_model.clone(),
        attempts: rows.len(),
        answers: answered.len(),
        quota: QuotaFit::of(&per_minute(rows.iter().map(minute_of))),
        failures,
        latency,
    })
}

/// Whether it is an answer with a time.
pub(crate) fn is_answer(row: &LogRow) -> bool {
    row.result == LogResult::Success && row.end_ns.is_some()
}

/// Whether nearly all answers have their tokens counted; else tokens play no part in their times.
pub(crate) fn knows_tokens(answered: &[&LogRow]) -> bool {
    let known = answered
        .iter()
        .filter(|row| row.output_tokens.is_some())
        .count();
    known * 10 >= answered.len() * 9
}

/// Further tokens of answers as they usually are: sixteen quantiles.
pub(crate) fn usual_further(answered: &[&LogRow]) -> Vec<f64> {
    let mut further = counts(answered, answered_tokens);
    further.sort_by(f64::total_cmp);
    if further.is_empty() {
        return vec![0.0];
    }
    (0..16)
        .map(|n| further[(2 * n + 1) * further.len() / 32] - 1.0)
        .collect()
}

/// What a row says of latency, in milliseconds.
pub(crate) fn seen(
    row: &LogRow,
    has_counts: bool,
    limit: Option<&TimeLimit>,
    log_ends_ns: i64,
) -> Option<Seen> {
    let ms =
        |to: i64| (size(usize::try_from(to - row.start_ns).unwrap_or(0)) / 1e6).max(SHORTEST_MS);
    if !is_answer(row) {
        if row.result == LogResult::Unfinished {
            return Some(Seen::Late {
                after_ms: ms(log_ends_ns),
            });
        }
        let cut = limit.is_some_and(|limit| limit.is_cut(row));
        return row
            .end_ns
            .filter(|_| cut)
            .map(|end| Seen::Late { after_ms: ms(end) });
    }
    let end = row.end_ns?;
    let further = match (has_counts, row.output_tokens) {
        (true, Some(tokens)) => f64::from(tokens) - 1.0,
        (true, None) => return None,
        (false, _) => 0.0,
    };
    Some(match row.first_token_ns.filter(|first| *first <= end) {
        Some(first) => Seen::Parts {
            first_ms: ms(first),
            per_token_ms: (further > 0.0 && end > first)
                .then(|| size(usize::try_from(end - first).unwrap_or(0)) / 1e6 / further),
        },
        None => Seen::Whole {
            total_ms: ms(end),
            further,
        },
    })
}

/// Half a millisecond: what a log that counts milliseconds writes as 0.
const SHORTEST_MS: f64 = 0.5;
