//! The faults of a deployment, in the words of scenario files.

use reports::fits::{OutageFit, QuotaFit};
use reports::stats::{mean, size};

use super::{
    failures::FailureFit,
    scenario_text::{interval, number, precise, sigma},
    window::span_text,
};

pub(crate) fn faults(failures: &FailureFit, quota: Option<&QuotaFit>) -> String {
    let mut lines = Vec::new();
    let likeness = incidents(failures);
    let one_by_one = match likeness {
        Some(_) if failures.outages.len() > MOST_OUTAGES => &[],
        _ => &failures.outages[..],
    };
    for (outage, status) in one_by_one {
        let from = precise(outage.from_s.value.max(0.0));
        let to = precise(outage.to_s.value.max(0.0) + 0.001);
        let origin = format!(
            "{} attempts, {:.0} % failed, {}",
            outage.attempts,
            100.0 * outage.severity,
            span_text(outage.to_s.value - outage.from_s.value)
        );
        lines.push(match is_whole(outage) {
            true => format!("{{outage: {{from_s: {from}, to_s: {to}, status: {status}}}}}  # {origin}"),
            false => format!(
                "{{error_rate: {{from_s: {from}, to_s: {to}, share: {}, status: {status}}}}}  # {origin}",
                number(outage.severity)
            ),
        });
    }
    if let Some(likeness) = &likeness {
        lines.push(match one_by_one.is_empty() {
            true => likeness.clone(),
            false => format!("# Others like these, in their place: {likeness}"),
        });
    }
    if let Some(QuotaFit::Unsteady { share, rejected }) = quota {
        lines.push(format!(
            "{{rate_limit_storm: {{share: {}}}}}  # {rejected} attempts got 429 without a steady limit behind it",
            number(*share)
        ));
    }
    if let Some(hangs) = &failures.hangs {
        lines.push(format!(
            "{{hang: {{share: {}}}}}  # {} of the attempts never ended before the limit",
            number(hangs.value),
            interval(hangs)
        ));
    }
    if let Some((bursts, status)) = &failures.bursts {
        lines.push(format!(
            "{{bursty: {{good_mean_s: {}, bad_mean_s: {}, good_error_share: {}, bad_error_share: {}, \
             status: {status}}}}}  # bad for {} s, then {} fail",
            number(bursts.good_mean_s.value),
            number(bursts.bad_mean_s.value),
            number(bursts.good_error_share.value),
            number(bursts.bad_error_share.value),
            interval(&bursts.bad_mean_s),
            interval(&bursts.bad_error_share)
        ));
    }
    for error in &failures.errors {
        lines.push(format!(
            "{{error_rate: {{share: {}, status: {}, after_ms: {}}}}}  # {}, {} attempts",
            number(error.share.value),
            error.status,
            number(error.after_ms),
            interval(&error.share),
            error.attempts
        ));
    }
    if lines.is_empty() {
        return String::new();
    }
    let lines: Vec<String> = lines
        .iter()
        .map(|line| match line.starts_with('#') {
            true => format!("      {line}\n"),
            false => format!("      - {line}\n"),
        })
        .collect();
    format!("    faults:\n{}", lines.concat())
}

/// Outages at random times that are as long and as far apart as those of the log; `None` where they are too few
/// to tell.
fn incidents(failures: &FailureFit) -> Option<String> {
    let (lengths, gaps) = (failures.outage_lengths?, failures.outage_gaps?);
    let (_, status) = failures.outages.first()?;
    let partly = failures.outages.iter().map(|(outage, _)| outage);
    let partly: Vec<f64> = partly
        .filter(|outage| !is_whole(outage))
        .map(|outage| outage.severity)
        .collect();
    let share = size(partly.len()) / size(failures.outages.len());
    let severity = if partly.is_empty() {
        0.0
    } else {
        mean(&partly)
    };
    Some(format!(
        "{{incidents: {{gap_mean_s: {}, gap_cv: {}, duration_median_s: {}, duration_sigma: {}, degraded_share: {}, \
         degraded_error_share: {}, degraded_slowdown: 1, partial_share: 0, partial_touches: 1, status: {status}}}}}  \
         # {} outages of 10 s and more: {} s apart on average, varying by {} of it; median length {} s, sigma {}",
        number(gaps.mean_s.value),
        number(gaps.cv.value.min(100.0)),
        number(lengths.median_s.value),
        sigma(lengths.sigma.value),
        number(share),
        number(severity),
        failures.outages.len(),
        interval(&gaps.mean_s),
        interval(&gaps.cv),
        interval(&lengths.median_s),
        interval(&lengths.sigma),
    ))
}

fn is_whole(outage: &OutageFit) -> bool {
    outage.severity >= WHOLE
}

/// From this share of failures on, everything failed.
const WHOLE: f64 = 0.97;
/// More outages are not written down one by one, if others like them can be.
const MOST_OUTAGES: usize = 50;
