//! A calibration gives back what a log was made from: logs of simulated runs, whose truth is the scenario.

use reports::fits::{QuotaFit, QuotaKind};
use scenarios::{
    LoadOptions, Scenario, Source,
    logs::{Log, LogInput, LogOptions, read_logs},
};
use sim::{SpendLog, calibrate::Calibration, simulate};

/// Two deployments, of which only what a test says is remarkable; two hours of traffic.
pub(crate) struct Truth {
    pub(crate) seed: u64,
    pub(crate) arrivals: &'static str,
    pub(crate) stream_share: f64,
    pub(crate) eu: &'static str,
    pub(crate) us: &'static str,
    pub(crate) timeout_s: u32,
    pub(crate) duration_s: u32,
}

impl Truth {
    pub(crate) const PLAIN: Self = Self {
        seed: 1,
        arrivals: "{poisson: {per_second: 2}}",
        stream_share: 0.5,
        eu: "{latency: {first_token: {log_normal: {median_ms: 500, sigma: 0.4}}, \
              per_output_token: {log_normal: {median_ms: 20, sigma: 0.25}}}}",
        us: "{latency: {first_token: {log_normal: {median_ms: 300, sigma: 0.3}}, \
              per_output_token: {log_normal: {median_ms: 10, sigma: 0.2}}}}",
        timeout_s: 300,
        duration_s: 3_600,
    };

    fn scenario(&self) -> Scenario {
        let Self {
            seed,
            arrivals,
            stream_share,
            eu,
            us,
            timeout_s,
            duration_s,
        } = self;
        let text = format!(
            "
purpose: the truth
kind: terminating
replications: 1
seed: {seed}
starts_at: 2026-03-02T09:00:00Z
litellm:
  model_list:
    - {{model_name: chat, litellm_params: {{model: azure/a}}, model_info: {{id: eu}}}}
    - {{model_name: chat, litellm_params: {{model: openai/b}}, model_info: {{id: us}}}}
  router_settings: {{timeout: {timeout_s}, num_retries: 1, cooldown_time: 1}}
providers:
  eu: {eu}
  us: {us}
workload:
  arrivals: {arrivals}
  lengths: {{prompt: {{log_normal: {{ln_mean: 6, ln_sigma: 0.9}}}}, output: {{log_normal: {{ln_mean: 4.5, ln_sigma: 0.8}}}}}}
  stream_share: {stream_share}
  duration_s: {duration_s}
"
        );
        load(text)
    }

    pub(crate) fn log(&self) -> Log {
        log_of(&self.scenario())
    }

    pub(crate) fn calibrated(&self) -> Calibration {
        calibrated(&self.log())
    }
}

/// The log of a run.
fn log_of(scenario: &Scenario) -> Log {
    let plan = scenario.plan(0, 0);
    let mut log = SpendLog::new(&plan).unwrap();
    simulate(&plan, &mut log).unwrap();
    let file = LogInput::Text {
        file: "spend.csv".to_owned(),
        text: log.csv(),
    };
    read_logs(&[file], &LogOptions::default()).unwrap()
}

/// The log of a run of this scenario.
pub(crate) fn run(text: String) -> Log {
    log_of(&load(text))
}

/// What is written loads.
pub(crate) fn calibrated(log: &Log) -> Calibration {
    let found = Calibration::of(log).unwrap();
    load(found.scenario("spend.csv"));
    found
}

fn load(text: String) -> Scenario {
    let source = Source::Text {
        name: "truth.yaml".to_owned(),
        text,
    };
    Scenario::load(&source, &LoadOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn of<'a>(found: &'a Calibration, id: &str) -> &'a sim::calibrate::DeploymentFit {
    found.deployments.iter().find(|d| d.id == id).unwrap()
}

#[test]
fn a_plain_log_gives_back_rate_lengths_and_latency() {
    let found = Truth::PLAIN.calibrated();

    let traffic = &found.traffic;
    assert!(traffic.arrivals.per_second.holds(2.0), "{traffic:?}");
    assert!(traffic.arrivals.is_poisson, "{traffic:?}");
    assert_eq!(traffic.arrivals.curve, None);
    let (prompt, output) = (
        traffic.prompt.as_ref().unwrap(),
        traffic.output.as_ref().unwrap(),
    );
    assert!(
        prompt.ln_mean.holds(6.0) && prompt.ln_sigma.holds(0.9),
        "{prompt:?}"
    );
    assert!(
        output.ln_mean.holds(4.5) && output.ln_sigma.holds(0.8),
        "{output:?}"
    );
    assert!((traffic.stream_share.unwrap() - 0.5).abs() < 0.02);

    let (eu, us) = (of(&found, "eu"), of(&found, "us"));
    let (fast, slow) = (us.latency.as_ref().unwrap(), eu.latency.as_ref().unwrap());
    assert!(slow.first_quantiles[0].holds(500.0), "{slow:?}");
    // The 95th percentile of a log-normal of sigma 0.4: e^(1.6449 · 0.4) times its median.
    assert!(slow.first_quantiles[1].holds(965.4), "{slow:?}");
    assert!(slow.per_token_median.unwrap().holds(20.0), "{slow:?}");
    assert!(fast.first_quantiles[0].holds(300.0), "{fast:?}");
    assert!(fast.per_token_sigma.unwrap().holds(0.2), "{fast:?}");
    assert!(eu.failures.errors.is_empty() && eu.failures.outages.is_empty());
    assert!(
        matches!(eu.quota, Some(QuotaFit::NotSeen { .. })),
        "{:?}",
        eu.quota
    );
    for tested in &found.held_out.deployments {
        let latency = tested.latency.unwrap();
        assert!(latency.largest.value < latency.by_chance, "{tested:?}");
        for check in &tested.quantiles[..2] {
            let off = check.fitted_ms / check.seen_ms - 1.0;
            assert!(off.abs() < 0.08, "{tested:?}");
        }
    }
}

#[test]
fn answers_in_one_piece_and_clusters_of_requests_are_given_back() {
    let found = Truth {
        seed: 2,
        arrivals: "{gamma: {per_second: 2, cv: 2.2}}",
        stream_share: 0.0,
        ..Truth::PLAIN
    }
    .calibrated();

    let arrivals = &found.traffic.arrivals;
    assert!(arrivals.per_second.holds(2.0), "{arrivals:?}");
    assert!(
        arrivals.cv.holds(2.2) && !arrivals.is_poisson,
        "{arrivals:?}"
    );
    let latency = of(&found, "eu").latency.as_ref().unwrap();
    assert_eq!(latency.used[0], 0, "no stream was seen");
    assert!(latency.first_quantiles[0].holds(500.0), "{latency:?}");
    assert!(latency.per_token_median.unwrap().holds(20.0), "{latency:?}");
}

#[test]
fn a_heavy_tail_errors_an_outage_and_a_quota_are_given_back() {
    let found = Truth {
        seed: 3,
        arrivals: "{gamma: {per_second: 4, cv: 2}}",
        stream_share: 1.0,
        eu: "{latency: {first_token: {mixture: [{weight: 0.97, of: {log_normal: {median_ms: 500, sigma: 0.3}}}, \
              {weight: 0.03, of: {log_normal: {median_ms: 4000, sigma: 0.3}}}]}}, \
              quota: {requests_per_minute: 130}, faults: [{error_rate: {share: 0.03, status: 500}}]}",
        us: "{latency: {first_token: {log_normal: {median_ms: 300, sigma: 0.3}}}, \
              faults: [{outage: {from_s: 1200, to_s: 1440, status: 503}}]}",
        ..Truth::PLAIN
    }
    .calibrated();

    let eu = of(&found, "eu");
    let heavy = &eu.latency.as_ref().unwrap().first.parts[1];
    assert!((heavy.weight - 0.03).abs() < 0.012, "{heavy:?}");
    assert!(
        (libm::exp(heavy.mu) / 4_000.0 - 1.0).abs() < 0.1,
        "{heavy:?}"
    );
    let [error] = &eu.failures.errors[..] else {
        panic!("{:?}", eu.failures)
    };
    assert_eq!(error.status, 500);
    assert!(error.share.holds(0.03), "{error:?}");
    let Some(QuotaFit::Steady {
        kind,
        per_minute,
        is_fixed_minute,
        ..
    }) = &eu.quota
    else {
        panic!("{:?}", eu.quota)
    };
    assert_eq!((*kind, *is_fixed_minute), (QuotaKind::Requests, true));
    assert!(per_minute.holds(130.0), "{per_minute:?}");

    let us = &of(&found, "us").failures;
    let [(outage, status)] = &us.outages[..] else {
        panic!("{us:?}")
    };
    assert_eq!(*status, 503);
    // The log's window begins a minute into the run.
    let (from_s, to_s) = (outage.from_s.value + 60.0, outage.to_s.value + 60.0);
    assert!(
        (from_s - 1_200.0).abs() < 5.0 && (to_s - 1_440.0).abs() < 10.0,
        "{outage:?}"
    );
    assert!(us.errors.is_empty(), "{us:?}");
    let told = found.unknown.join("\n");
    assert!(
        told.contains("us: its outages (1) are too few to tell how long they last"),
        "{told}"
    );
}

#[test]
fn outages_by_the_dozen_tell_how_long_they_are_and_how_far_apart() {
    let found = Truth {
        seed: 6,
        duration_s: 10_800,
        us: "{latency: {first_token: {log_normal: {median_ms: 300, sigma: 0.3}}}, \
              faults: [{incidents: {like: open_ai, gap_mean_s: 600, gap_cv: 0.5, duration_median_s: 90, \
              duration_sigma: 0.4, degraded_share: 0, partial_share: 0, status: 503}}]}",
        ..Truth::PLAIN
    }
    .calibrated();

    let failures = &of(&found, "us").failures;
    let (lengths, gaps) = (
        failures.outage_lengths.unwrap(),
        failures.outage_gaps.unwrap(),
    );
    assert!(
        lengths.median_s.holds(90.0) && lengths.sigma.holds(0.4),
        "{lengths:?}"
    );
    assert!(gaps.mean_s.holds(600.0) && gaps.cv.holds(0.5), "{gaps:?}");
    // The scenario has those of the log, and beside them a line that draws others.
    let text = found.scenario("spend.csv");
    let others = "# Others like these, in their place: {incidents: {gap_mean_s: ";
    assert!(
        text.contains("outage: {from_s: ") && text.contains(others),
        "{text}"
    );
    load(text.replace("# Others like these, in their place: ", "- "));
    // Hundreds are not written down one by one.
    let mut many = found.clone();
    let us = many.deployments.iter_mut().find(|d| d.id == "us").unwrap();
    us.failures.outages = us.failures.outages.repeat(10);
    let text = many.scenario("spend.csv");
    assert!(
        text.contains("- {incidents: {") && !text.contains("outage: {from_s"),
        "{text}"
    );
    load(text);
}

#[test]
fn bursts_and_attempts_that_never_end_are_told_apart_from_slow_ones() {
    let found = Truth {
        seed: 4,
        arrivals: "{poisson: {per_second: 3}}",
        timeout_s: 20,
        duration_s: 7_200,
        eu: "{latency: {first_token: {log_normal: {median_ms: 500, sigma: 0.4}}}, \
              faults: [{bursty: {good_mean_s: 400, bad_mean_s: 40, good_error_share: 0.002, \
              bad_error_share: 0.4, status: 502}}]}",
        us: "{latency: {first_token: {log_normal: {median_ms: 300, sigma: 0.3}}}, faults: [{hang: {share: 0.02}}]}",
        ..Truth::PLAIN
    }
    .calibrated();

    let (bursts, status) = of(&found, "eu").failures.bursts.expect("bursts are seen");
    assert_eq!(status, 502);
    assert!(bursts.bad_error_share.holds(0.4), "{bursts:?}");
    assert!(bursts.bad_mean_s.holds(40.0), "{bursts:?}");
    assert!(bursts.good_mean_s.holds(400.0), "{bursts:?}");
    let us = &of(&found, "us").failures;
    assert!(us.hangs.expect("hangs are seen").holds(0.02), "{us:?}");
    assert!((us.limit.unwrap().after_s - 20.0).abs() < 0.01, "{us:?}");
    assert!(us.errors.is_empty() && us.bursts.is_none(), "{us:?}");
}

#[test]
fn a_rate_that_changes_is_a_curve_and_no_clustering() {
    let found = Truth {
        seed: 5,
        arrivals: "{curve: {step_s: 1200, per_second: [1, 4, 2]}}",
        ..Truth::PLAIN
    }
    .calibrated();

    let arrivals = &found.traffic.arrivals;
    assert!(arrivals.is_poisson, "{arrivals:?}");
    let curve = arrivals.curve.as_ref().expect("the rate changes");
    let at = |s: f64| {
        let step = (0..)
            .zip(&curve.per_second)
            .find(|(n, _)| f64::from(*n + 1) * curve.step_s > s);
        *step.unwrap().1
    };
    assert!(
        (at(500.0) - 1.0).abs() < 0.4 && (at(1_800.0) / 4.0 - 1.0).abs() < 0.2,
        "{curve:?}"
    );
}

#[test]
fn a_spread_beyond_what_a_scenario_takes_is_written_as_the_most_and_told() {
    let truth = Truth {
        eu: "{latency: {first_token: {constant: {ms: 500}}, per_output_token: {mixture: \
              [{weight: 1, of: {constant: {ms: 0.1}}}, {weight: 1, of: {constant: {ms: 1e7}}}]}}}",
        timeout_s: 1_000_000_000,
        stream_share: 1.0,
        ..Truth::PLAIN
    };

    // It loads, or this panics.
    let text = truth.calibrated().scenario("spend.csv");

    let told = text
        .lines()
        .filter(|line| line.contains("The log spreads further"));
    assert_eq!(told.count(), 1, "{text}");
    assert!(text.contains("sigma: 5}"), "{text}");
}
