//! Does a calibration give back what a log was made from? Logs of simulated runs whose truth is the
//! scenario, by the hundred: how often each 95 % interval holds it.

use std::{sync::Mutex, thread};

use reports::fits::{Fitted, Mixture, QuotaFit};
use scenarios::{
    LoadOptions, Scenario, Source,
    logs::{LogInput, LogOptions, read_logs},
};
use sim::{
    SpendLog,
    calibrate::{Calibration, DeploymentFit},
    simulate,
};

use super::cores;

/// What a kind of log is made from, and what of it is to be found.
struct Profile {
    /// The word on the command line that chooses it.
    key: &'static str,
    name: &'static str,
    /// A first seed of its own, so that no two profiles share their luck.
    seed: u64,
    arrivals: &'static str,
    stream_share: f64,
    timeout_s: u32,
    duration_s: u32,
    provider: &'static str,
    found: fn(&Calibration) -> Vec<Found>,
}

/// A parameter with its truth: what was found of it, if it has an interval.
struct Found {
    parameter: &'static str,
    truth: f64,
    interval: Option<Fitted>,
}

fn found(parameter: &'static str, truth: f64, interval: impl Into<Option<Fitted>>) -> Found {
    let interval = interval
        .into()
        .filter(|f| f.low.is_some() && f.high.is_some());
    Found {
        parameter,
        truth,
        interval,
    }
}

/// Whether a kind of log is called so.
pub(crate) fn is_kind(word: &str) -> bool {
    PROFILES.iter().any(|profile| profile.key == word)
}

/// The tables: a row for each parameter of each profile that is wanted, of all if none is.
pub(crate) fn calibrations(studies: u64, wanted: &[&String]) {
    println!(
        "\nCalibrations: share of {studies} simulated logs whose 95 % interval holds the truth (± one standard error)\n"
    );
    println!("| log | parameter | truth | intervals given | hold it | too low | too high |");
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    let any = PROFILES
        .iter()
        .any(|profile| wanted.iter().any(|word| *word == profile.key));
    for profile in PROFILES {
        if any && !wanted.iter().any(|word| *word == profile.key) {
            continue;
        }
        let all = calibrated(profile, studies);
        let parameters = all.first().map_or(0, Vec::len);
        for at in 0..parameters {
            let of: Vec<&Found> = all.iter().map(|study| &study[at]).collect();
            row(profile.name, &of);
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a few hundred")]
fn row(profile: &str, of: &[&Found]) {
    let given: Vec<(f64, &Fitted)> = of
        .iter()
        .filter_map(|f| Some((f.truth, f.interval.as_ref()?)))
        .collect();
    let n = given.len() as f64;
    let count = |which: fn(f64, f64, f64) -> bool| {
        let is = |(truth, f): &&(f64, &Fitted)| {
            which(
                *truth,
                f.low.unwrap_or(f64::NAN),
                f.high.unwrap_or(f64::NAN),
            )
        };
        given.iter().filter(is).count() as f64 / n
    };
    let held = count(|truth, low, high| low <= truth && truth <= high);
    let error = (held * (1.0 - held) / n).sqrt();
    println!(
        "| {profile} | {} | {:.4} | {} of {} | {:.1} ± {:.1} % | {:.1} % | {:.1} % |",
        of[0].parameter,
        of[0].truth,
        given.len(),
        of.len(),
        100.0 * held,
        100.0 * error,
        100.0 * count(|truth, _, high| high < truth),
        100.0 * count(|truth, low, _| low > truth),
    );
}

/// What each study found, in the order of the studies.
fn calibrated(profile: &Profile, studies: u64) -> Vec<Vec<Found>> {
    let (next, done) = (Mutex::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..cores().get() {
            scope.spawn(|| {
                loop {
                    let study = {
                        let mut next = next.lock().expect("nobody panics with it");
                        *next += 1;
                        *next - 1
                    };
                    if study >= studies {
                        return;
                    }
                    let found = (profile.found)(&profile.study(study));
                    done.lock()
                        .expect("nobody panics with it")
                        .push((study, found));
                }
            });
        }
    });
    let mut done = done.into_inner().expect("nobody panics with it");
    done.sort_by_key(|(study, _)| *study);
    done.into_iter().map(|(_, found)| found).collect()
}

impl Profile {
    fn study(&self, study: u64) -> Calibration {
        let Self {
            arrivals,
            stream_share,
            timeout_s,
            duration_s,
            provider,
            ..
        } = self;
        let text = format!(
            "purpose: Is the truth found?
kind: terminating
replications: 1
seed: {}
starts_at: 2026-03-02T09:00:00Z
litellm:
  model_list:
    - {{model_name: chat, litellm_params: {{model: azure/a}}, model_info: {{id: eu}}}}
  router_settings: {{timeout: {timeout_s}, num_retries: 0, disable_cooldowns: true}}
providers:
  eu: {provider}
workload:
  arrivals: {arrivals}
  lengths: {{prompt: {{log_normal: {{ln_mean: 6, ln_sigma: 0.9}}}}, output: {{log_normal: {{ln_mean: 4.5, ln_sigma: 0.8}}}}}}
  stream_share: {stream_share}
  duration_s: {duration_s}
",
            self.seed + study
        );
        let source = Source::Text {
            name: "truth".to_owned(),
            text,
        };
        let scenario = Scenario::load(&source, &LoadOptions::default()).expect("it is valid");
        let plan = scenario.plan(0, 0);
        let mut log = SpendLog::new(&plan).expect("the plan is valid");
        simulate(&plan, &mut log).expect("the plan is valid");
        let file = LogInput::Text {
            file: "spend.csv".to_owned(),
            text: log.csv(),
        };
        let log = read_logs(&[file], &LogOptions::default()).expect("it is a spend log");
        Calibration::of(&log).expect("it has requests enough")
    }
}

fn deployment(of: &Calibration) -> &DeploymentFit {
    &of.deployments[0]
}

fn traffic(of: &Calibration, per_second: f64, cv: f64) -> Vec<Found> {
    let arrivals = &of.traffic.arrivals;
    vec![
        found("requests a second", per_second, arrivals.per_second),
        found("variation of gaps", cv, arrivals.cv),
    ]
}

fn lengths(of: &Calibration) -> Vec<Found> {
    let (prompt, output) = (of.traffic.prompt.as_ref(), of.traffic.output.as_ref());
    vec![
        found("prompt tokens, mean of ln", 6.0, prompt.map(|p| p.ln_mean)),
        found("prompt tokens, sigma", 0.9, prompt.map(|p| p.ln_sigma)),
        found("answer tokens, mean of ln", 4.5, output.map(|o| o.ln_mean)),
        found("answer tokens, sigma", 0.8, output.map(|o| o.ln_sigma)),
    ]
}

/// Quantiles of the time to the first token, and the time of each further one.
fn latency(of: &Calibration, truth: &Mixture, token: Option<(f64, f64)>) -> Vec<Found> {
    let fit = deployment(of).latency.as_ref();
    let quantile = |at: usize| fit.map(|fit| fit.first_quantiles[at]);
    let mut all = vec![
        found("first token p50 (ms)", truth.quantile(0.5), quantile(0)),
        found("first token p95 (ms)", truth.quantile(0.95), quantile(1)),
        found("first token p99 (ms)", truth.quantile(0.99), quantile(2)),
    ];
    if let Some((median, sigma)) = token {
        let (of_median, of_sigma) = (
            fit.and_then(|fit| fit.per_token_median),
            fit.and_then(|fit| fit.per_token_sigma),
        );
        all.push(found("each further token, median (ms)", median, of_median));
        all.push(found("each further token, sigma", sigma, of_sigma));
    }
    all
}

fn single(median_ms: f64, sigma: f64) -> Mixture {
    Mixture::single(libm::log(median_ms), sigma)
}

fn heavy() -> Mixture {
    let mut mixture = single(500.0, 0.3);
    mixture.parts[0].weight = 0.95;
    let mut slow = single(4_000.0, 0.3).parts;
    slow[0].weight = 0.05;
    mixture.parts.append(&mut slow);
    mixture
}

const PROFILES: &[Profile] = &[
    Profile {
        key: "streams",
        name: "streams",
        seed: 1_000_000,
        arrivals: "{poisson: {per_second: 1}}",
        stream_share: 1.0,
        timeout_s: 300,
        duration_s: 2_400,
        provider: "{latency: {first_token: {log_normal: {median_ms: 500, sigma: 0.4}}, \
                   per_output_token: {log_normal: {median_ms: 20, sigma: 0.25}}}}",
        found: |of| {
            let mut all = traffic(of, 1.0, 1.0);
            all.extend(lengths(of));
            all.extend(latency(of, &single(500.0, 0.4), Some((20.0, 0.25))));
            all
        },
    },
    Profile {
        key: "slow",
        name: "a slow part, errors",
        seed: 3_000_000,
        arrivals: "{gamma: {per_second: 1, cv: 0.5}}",
        stream_share: 1.0,
        timeout_s: 300,
        duration_s: 2_400,
        provider: "{latency: {first_token: {mixture: [{weight: 0.95, of: {log_normal: {median_ms: 500, sigma: 0.3}}}, \
                   {weight: 0.05, of: {log_normal: {median_ms: 4000, sigma: 0.3}}}]}}, \
                   faults: [{error_rate: {share: 0.03, status: 500}}]}",
        found: |of| {
            let mut all = traffic(of, 1.0, 0.5);
            all.extend(latency(of, &heavy(), None));
            let two = deployment(of).latency.as_ref().and_then(|fit| fit.two);
            all.push(found(
                "share of the slow part",
                0.05,
                two.map(|two| two.slow_share),
            ));
            all.push(found(
                "its median (ms)",
                4_000.0,
                two.map(|two| two.slow_median),
            ));
            all.push(found(
                "median of the quick part (ms)",
                500.0,
                two.map(|two| two.quick_median),
            ));
            let errors = &deployment(of).failures.errors;
            all.push(found(
                "share of errors",
                0.03,
                errors.first().map(|e| e.share),
            ));
            all
        },
    },
    Profile {
        key: "limit",
        name: "a time limit that cuts off",
        seed: 4_000_000,
        arrivals: "{poisson: {per_second: 1}}",
        stream_share: 0.0,
        timeout_s: 1,
        duration_s: 2_400,
        provider: "{latency: {first_token: {log_normal: {median_ms: 500, sigma: 0.6}}}}",
        found: |of| latency(of, &single(500.0, 0.6), None),
    },
    Profile {
        key: "bursts",
        name: "errors in bursts",
        seed: 5_000_000,
        arrivals: "{poisson: {per_second: 2}}",
        stream_share: 1.0,
        timeout_s: 20,
        duration_s: 7_200,
        provider: "{latency: {first_token: {log_normal: {median_ms: 500, sigma: 0.4}}}, \
                   faults: [{bursty: {good_mean_s: 200, bad_mean_s: 30, good_error_share: 0.005, \
                   bad_error_share: 0.4, status: 502}}]}",
        found: |of| {
            let bursts = deployment(of)
                .failures
                .bursts
                .as_ref()
                .map(|(bursts, _)| bursts);
            vec![
                found("good time, mean (s)", 200.0, bursts.map(|b| b.good_mean_s)),
                found("bad time, mean (s)", 30.0, bursts.map(|b| b.bad_mean_s)),
                found(
                    "errors in good times",
                    0.005,
                    bursts.map(|b| b.good_error_share),
                ),
                found(
                    "errors in bad times",
                    0.4,
                    bursts.map(|b| b.bad_error_share),
                ),
            ]
        },
    },
    Profile {
        key: "hangs",
        name: "attempts that never end",
        seed: 6_000_000,
        arrivals: "{poisson: {per_second: 1}}",
        stream_share: 1.0,
        timeout_s: 20,
        duration_s: 2_400,
        provider: "{latency: {first_token: {log_normal: {median_ms: 500, sigma: 0.4}}}, \
                   faults: [{hang: {share: 0.02}}]}",
        found: |of| vec![found("share of hangs", 0.02, deployment(of).failures.hangs)],
    },
    Profile {
        key: "outages",
        name: "outages",
        seed: 7_000_000,
        arrivals: "{poisson: {per_second: 1}}",
        stream_share: 1.0,
        timeout_s: 20,
        duration_s: 14_400,
        provider: "{latency: {first_token: {log_normal: {median_ms: 500, sigma: 0.4}}}, \
                   faults: [{incidents: {like: open_ai, gap_mean_s: 800, gap_cv: 0.5, duration_median_s: 120, duration_sigma: 0.5, \
                   degraded_share: 0, partial_share: 0, status: 503}}]}",
        found: |of| {
            let failures = &deployment(of).failures;
            let (lengths, gaps) = (failures.outage_lengths, failures.outage_gaps);
            vec![
                found(
                    "outages, median length (s)",
                    120.0,
                    lengths.map(|l| l.median_s),
                ),
                found("outages, sigma of lengths", 0.5, lengths.map(|l| l.sigma)),
                found("between outages, mean (s)", 800.0, gaps.map(|g| g.mean_s)),
                found("between outages, variation", 0.5, gaps.map(|g| g.cv)),
            ]
        },
    },
    Profile {
        key: "quota",
        name: "a quota",
        seed: 8_000_000,
        arrivals: "{gamma: {per_second: 2, cv: 2}}",
        stream_share: 1.0,
        timeout_s: 20,
        duration_s: 2_400,
        provider: "{latency: {first_token: {log_normal: {median_ms: 500, sigma: 0.4}}}, quota: {requests_per_minute: 110}}",
        found: |of| {
            let quota = match &deployment(of).quota {
                Some(QuotaFit::Steady { per_minute, .. }) => Some(*per_minute),
                Some(QuotaFit::NotSeen { .. } | QuotaFit::Unsteady { .. }) | None => None,
            };
            vec![found("requests a minute", 110.0, quota)]
        },
    },
    Profile {
        key: "whole",
        name: "answers in one piece, clustered",
        seed: 2_000_000,
        arrivals: "{gamma: {per_second: 1, cv: 2}}",
        stream_share: 0.0,
        timeout_s: 300,
        duration_s: 2_400,
        provider: "{latency: {first_token: {log_normal: {median_ms: 500, sigma: 0.4}}, \
                   per_output_token: {log_normal: {median_ms: 20, sigma: 0.25}}}}",
        found: |of| {
            let mut all = traffic(of, 1.0, 2.0);
            all.extend(latency(of, &single(500.0, 0.4), Some((20.0, 0.25))));
            all
        },
    },
];
