//! The findings in sentences.

use reports::fits::{Fitted, QuotaFit, QuotaKind};

use super::{
    Calibration, DeploymentFit, HeldOutDeployment,
    scenario_text::{interval, number, seen_interval},
    window::span_text,
};

/// The most important first.
pub(crate) fn findings(found: &Calibration) -> Vec<String> {
    let mut told = vec![traffic(found)];
    for deployment in &found.deployments {
        let tested = found
            .held_out
            .deployments
            .iter()
            .find(|d| d.id == deployment.id);
        told.push(of_deployment(deployment, tested));
    }
    told.extend(doubts(found));
    told
}

fn traffic(found: &Calibration) -> String {
    let fit = &found.traffic.arrivals;
    let kind = if fit.is_poisson {
        "as independent arrivals do".to_owned()
    } else if fit.cv.value > 1.0 {
        "so they come in clusters".to_owned()
    } else {
        "more regular than independent arrivals".to_owned()
    };
    let curve = match (&found.traffic.hours, &fit.curve) {
        (Some(_), _) => ", by the hours of the day".to_owned(),
        (None, Some(curve)) => {
            let most = curve.per_second.iter().copied().fold(0.0, f64::max);
            let least = curve
                .per_second
                .iter()
                .copied()
                .fold(f64::INFINITY, f64::min);
            format!(
                ", between {} and {} in steps of {}",
                number(least),
                number(most),
                span_text(curve.step_s)
            )
        }
        (None, None) => String::new(),
    };
    format!(
        "{} requests in {}: {} a second{curve}; gaps vary by {} of their mean (independent arrivals: 1), {kind}.",
        fit.n,
        span_text(fit.covered_s),
        interval(&fit.per_second),
        interval(&fit.cv),
    )
}

fn of_deployment(deployment: &DeploymentFit, tested: Option<&HeldOutDeployment>) -> String {
    let mut parts = vec![latency(deployment, tested)];
    match &deployment.quota {
        Some(QuotaFit::Steady {
            kind,
            per_minute,
            minutes,
            ..
        }) => {
            let unit = match kind {
                QuotaKind::Requests => "requests",
                QuotaKind::Tokens => "tokens",
            };
            parts.push(format!(
                "its 429s say about {} {unit} a minute, by {minutes} minutes with 429s",
                interval(per_minute)
            ));
        }
        Some(QuotaFit::Unsteady { rejected, share }) => parts.push(format!(
            "{rejected} attempts ({}) got 429 with no steady limit behind it",
            percent(*share)
        )),
        Some(QuotaFit::NotSeen { requests, .. }) => parts.push(format!(
            "its quota was not reached: at least {requests} requests a minute"
        )),
        None => {}
    }
    let failures = &deployment.failures;
    if !failures.outages.is_empty() {
        let down: f64 = failures
            .outages
            .iter()
            .map(|(o, _)| o.to_s.value - o.from_s.value)
            .sum();
        let count = failures.outages.len();
        let noun = if count == 1 { "outage" } else { "outages" };
        let like = failures.outage_lengths.zip(failures.outage_gaps);
        let like = like.map_or_else(String::new, |(lengths, gaps)| {
            format!(
                " ({} s long in the median, {} s apart on average)",
                interval(&lengths.median_s),
                interval(&gaps.mean_s)
            )
        });
        parts.push(format!(
            "{count} {noun}, {} together{like}",
            span_text(down)
        ));
    }
    if let Some((bursts, _)) = &failures.bursts {
        parts.push(format!(
            "errors come in bursts: {} s bad after {} s good, and then {} of the attempts fail",
            interval(&bursts.bad_mean_s),
            interval(&bursts.good_mean_s),
            percent_of(&bursts.bad_error_share)
        ));
    }
    if let Some(hangs) = &failures.hangs {
        parts.push(format!(
            "{} of the attempts are never answered",
            percent_of(hangs)
        ));
    }
    if !failures.errors.is_empty() {
        let errors = failures.errors.iter();
        let errors = errors.map(|e| format!("{} for {}", e.status, percent_of(&e.share)));
        parts.push(format!("errors {}", errors.collect::<Vec<_>>().join(", ")));
    }
    format!("{}: {}.", deployment.id, parts.join("; "))
}

fn latency(deployment: &DeploymentFit, tested: Option<&HeldOutDeployment>) -> String {
    let Some(fit) = &deployment.latency else {
        return format!(
            "{} answers are too few to fit how long they take",
            deployment.answers
        );
    };
    let what = if fit.per_token.is_some() {
        "first token"
    } else {
        "answer"
    };
    let told = format!(
        "{what} after {} ms (median)",
        seen_interval(&fit.first_quantiles[0])
    );
    let Some(tested) = tested.filter(|tested| !tested.quantiles.is_empty()) else {
        return format!("{told}, not tested: too few answers in the last quarter");
    };
    let off = tested
        .quantiles
        .iter()
        .map(|q| (q.fitted_ms / q.seen_ms - 1.0).abs());
    let names = tested
        .quantiles
        .iter()
        .map(|q| format!("p{}", number(100.0 * q.share)));
    format!(
        "{told}; latency is fitted within {} at {} of the held-out quarter",
        percent(off.fold(0.0, f64::max)),
        names.collect::<Vec<_>>().join(", ")
    )
}

/// Where a reader should look twice.
fn doubts(found: &Calibration) -> Vec<String> {
    let mut told = Vec::new();
    let fit = &found.traffic.arrivals;
    if fit.dispersion > 2.0 * fit.dispersion_of_fit.max(1.0) {
        told.push(format!(
            "Requests cluster more than the scenario's process does: over 60 s their counts vary {} times as \
             much as independent arrivals, the process gives {}.",
            number(fit.dispersion),
            number(fit.dispersion_of_fit)
        ));
    }
    if let Some((before, after)) = found.held_out.rates
        && (after / before - 1.0).abs() > 0.25
    {
        told.push(format!(
            "The rate of the held-out quarter is {} a second, that of the time before {}: a rate is no forecast.",
            number(after),
            number(before)
        ));
    }
    for deployment in &found.held_out.deployments {
        let (before, after) = &deployment.failed;
        if let ((Some(a), Some(b)), (Some(c), Some(d))) =
            ((before.low, before.high), (after.low, after.high))
            && (d < a || c > b)
        {
            told.push(format!(
                "{}: the share of failed attempts moved from {} to {} in the held-out quarter.",
                deployment.id,
                percent_of(before),
                percent_of(after)
            ));
        }
        if let Some(latency) = &deployment.latency
            && latency
                .largest
                .low
                .is_some_and(|low| low > 2.0 * latency.by_chance)
        {
            told.push(format!(
                "{}: times of answers in the held-out quarter are further from the fit than chance makes them \
                 (distance {}, by chance up to {}).",
                deployment.id,
                interval(&latency.largest),
                number(latency.by_chance)
            ));
        }
    }
    if let Some(correlation) = found.traffic.correlation.filter(|rank| rank.abs() > 0.3) {
        told.push(format!(
            "Prompts and answers go together (rank correlation {}): the scenario draws them apart.",
            number(correlation)
        ));
    }
    told
}

fn percent(share: f64) -> String {
    format!("{} %", number(100.0 * share))
}

fn percent_of(share: &Fitted) -> String {
    let scaled = Fitted {
        value: 100.0 * share.value,
        low: share.low.map(|low| 100.0 * low),
        high: share.high.map(|high| 100.0 * high),
    };
    format!("{} %", interval(&scaled))
}
