//! Are answers right as often as they claim? Studies by the hundred whose truth is known: whether
//! intervals cover it, those of a calibration too, how often a gate fails a change that changes nothing and
//! one that loses as much as the margin, and how often a search chooses as a brute force does.
//!
//! `cargo bench -p benches --bench answers` prints the tables that stand in `reports/METRICS.md`;
//! names after `--` (`coverage`, `gates`, `searches`, `calibrations`, or a kind of log such as `bursts`) choose among them, a number
//! there is that of the studies, and
//! with `-- --test` it does a few studies of each, to see that it works.

#![expect(clippy::print_stdout, reason = "the measurement is the result")]

mod calibrations;

use std::{collections::BTreeMap, env, num::NonZeroUsize, thread};

use reports::{Gate, GateSide, GateVerdict, Margin, metric, stats};
use router::Seed;
use scenarios::{LoadOptions, Scenario, Source};
use sim::{
    run_plans, sweep_record,
    tune::{Budget, Candidate, Evaluate, Knob, NEGLIGIBLE, Objective, Space, tune},
};

fn main() {
    let is_test = env::args().any(|argument| argument == "--test");
    let wanted: Vec<String> = env::args()
        .skip(1)
        .filter(|a| !a.starts_with('-'))
        .collect();
    let given = wanted.iter().find_map(|word| word.parse::<u64>().ok());
    let wanted: Vec<&String> = wanted
        .iter()
        .filter(|w| w.parse::<u64>().is_err())
        .collect();
    let of_kinds = wanted.iter().any(|word| calibrations::is_kind(word));
    let is_wanted = |part: &str| {
        wanted.is_empty()
            || wanted.iter().any(|name| *name == part)
            || part == "calibrations" && of_kinds
    };
    let studies = |all: u64| given.unwrap_or(if is_test { 4 } else { all });
    if is_wanted("coverage") {
        coverage(studies(500));
    }
    if is_wanted("gates") {
        gates(studies(200));
    }
    if is_wanted("searches") {
        searches(studies(100));
    }
    if is_wanted("calibrations") {
        calibrations::calibrations(given.unwrap_or(if is_test { 2 } else { 400 }), &wanted);
    }
}

/// A share of failing attempts on each of two deployments, log-normal latency, no cooldowns.
fn scenario(shares: [f64; 2], retries: u32, seed: u64, reps: u32) -> Scenario {
    let text = format!(
        "purpose: Is the truth found?
kind: terminating
litellm:
  model_list:
    - {{model_name: m, litellm_params: {{model: openai/a}}, model_info: {{id: a}}}}
    - {{model_name: m, litellm_params: {{model: openai/b}}, model_info: {{id: b}}}}
  router_settings: {{disable_cooldowns: true, num_retries: {retries}, retry_after: 0}}
providers:
  a: {{latency: {LATENCY}, faults: [{{error_rate: {{share: {}, status: 500, after_ms: 0}}}}]}}
  b: {{latency: {LATENCY}, faults: [{{error_rate: {{share: {}, status: 500, after_ms: 0}}}}]}}
workload:
  arrivals: {{poisson: {{per_second: 100}}}}
  lengths: {{prompt: {{constant: 100}}, output: {{constant: 1}}}}
  duration_s: 20
slo: {{latency_s: {SLO_S}}}
",
        shares[0], shares[1]
    );
    let source = Source::Text {
        name: "truth".to_owned(),
        text,
    };
    let options = LoadOptions {
        seed: Some(seed),
        replications: Some(reps),
        ..LoadOptions::default()
    };
    Scenario::load(&source, &options).expect("the scenario above is valid")
}

const LATENCY: &str = "{first_token: {log_normal: {median_ms: 500, sigma: 0.5}}}";
/// The median times e^(0.5 · 1.2815516): nine requests of ten are faster.
const SLO_S: f64 = 0.949_018;

fn cores() -> NonZeroUsize {
    thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

/// How often 95 % intervals hold the truth.
fn coverage(studies: u64) {
    let share = 0.1_f64;
    let success = 1.0 - share.powi(3);
    let truths = [
        ("success_ratio", success),
        ("goodput_ratio", 0.9 * success),
        ("attempts_per_request", 1.0 + share + share * share),
        ("latency_p50_ms", 500.0),
        // The median times e^(0.5 · 2.3263479).
        ("latency_p99_ms", 1_599.93),
    ];
    println!(
        "Intervals over replications: share of {studies} studies whose 95 % interval holds the truth\n"
    );
    println!(
        "| replications | {} |",
        truths.map(|(name, _)| name).join(" | ")
    );
    println!("| --- | --- | --- | --- | --- | --- |");
    for reps in [5_u32, 10, 20] {
        let mut held = [0_u32; 5];
        for study in 0..studies {
            let plans = scenario([share; 2], 2, 1 + study, reps).plans();
            let runs = run_plans(&plans, cores(), &()).expect("the plans are valid");
            for (held, (name, truth)) in held.iter_mut().zip(truths) {
                let metric = metric(name).expect("it is a metric");
                let values: Vec<f64> = runs.iter().filter_map(|run| metric.value(run)).collect();
                let estimate = stats::mean_interval(&values).expect("there are values");
                let interval = estimate.interval().expect("there are replications");
                *held += u32::from(interval.0 <= truth && truth <= interval.1);
            }
        }
        let cells = held.map(|held| percent(held, studies));
        println!("| {reps} | {} |", cells.join(" | "));
    }
}

/// What gates make of changes whose effect is known, with the replications that they ask for.
fn gates(studies: u64) {
    println!("\nGates with the usual margins: verdicts over {studies} studies\n");
    println!("| change | luck | pass | inconclusive | fail | mean replications |");
    println!("| --- | --- | --- | --- | --- | --- |");
    let (p, margin) = (0.04, 0.005);
    // Shares of the old side and the new one; whether both sides meet the same luck.
    let changes = [
        (
            "none: the deployments change places",
            [0.0, 2.0 * p],
            [2.0 * p, 0.0],
            true,
        ),
        ("none", [p; 2], [p; 2], false),
        ("success loses the margin", [p; 2], [p + margin; 2], true),
        ("success loses the margin", [p; 2], [p + margin; 2], false),
        (
            "success loses twice the margin",
            [p; 2],
            [p + 2.0 * margin; 2],
            true,
        ),
    ];
    for (change, old, new, same_luck) in changes {
        let mut counts: BTreeMap<GateVerdict, u32> = BTreeMap::new();
        let mut replications = 0_u64;
        for study in 0..studies {
            let seed = 10_000 + study;
            let other = if same_luck { seed } else { seed + 500_000 };
            let (verdict, reps) = judged((old, seed), (new, other));
            *counts.entry(verdict).or_default() += 1;
            replications += u64::from(reps);
        }
        let share = |verdict| percent(counts.get(&verdict).copied().unwrap_or(0), studies);
        println!(
            "| {change} | {} | {} | {} | {} | {} |",
            if same_luck { "same" } else { "another" },
            share(GateVerdict::Pass),
            share(GateVerdict::Inconclusive),
            share(GateVerdict::Fail),
            replications / studies
        );
    }
}

/// A gate from ten replications on, as the command runs it.
fn judged(old: ([f64; 2], u64), new: ([f64; 2], u64)) -> (GateVerdict, u32) {
    let side = |(shares, seed): ([f64; 2], u64), reps| {
        let scenario = scenario(shares, 0, seed, reps);
        let runs = run_plans(&scenario.plans(), cores(), &()).expect("the plans are valid");
        GateSide::of_arm(&sweep_record(&scenario, runs, String::new()), 0, "side")
    };
    let mut reps = 10;
    loop {
        let gate = Gate::judge(&side(old, reps), &side(new, reps), &Margin::defaults());
        match gate.next_replications(reps, 200) {
            Some(more) => reps = more,
            None => return (gate.verdict(), reps),
        }
    }
}

/// How often a search ends at settings that a brute force finds as good as the best.
fn searches(studies: u64) {
    let space = space();
    let objective = Objective::read("maximize success; attempts <= +15%").expect("it is valid");
    let all = everything(&space);
    let mut brute = Runner::new(&space, &objective, 1);
    let jobs: Vec<(Candidate, u32)> = all
        .iter()
        .flat_map(|candidate| (0..BRUTE).map(|r| (candidate.clone(), r)))
        .collect();
    let values = brute.evaluate(&jobs).expect("the plans are valid");
    let rows: Vec<Vec<Vec<Option<f64>>>> = values
        .expect("nobody interrupts")
        .chunks(BRUTE as usize)
        .map(<[_]>::to_vec)
        .collect();
    let present = all
        .iter()
        .position(|candidate| *candidate == space.present());
    let present = &rows[present.expect("it is one of all")];
    let score = |rows: &Vec<Vec<Option<f64>>>| {
        let scores = objective.scores(rows, present);
        stats::mean_interval(&scores).map_or(f64::NEG_INFINITY, |estimate| estimate.mean)
    };
    let truth: BTreeMap<&Candidate, f64> = all.iter().zip(rows.iter().map(score)).collect();
    let best = truth.values().copied().fold(f64::NEG_INFINITY, f64::max);
    let (mut right, mut runs) = (0_u32, 0_u64);
    for study in 0..studies {
        let mut runner = Runner::new(&space, &objective, 100 + study);
        let found = tune(
            &space,
            &objective,
            Budget::default(),
            Seed(study),
            &mut runner,
        );
        let found = found
            .expect("the plans are valid")
            .expect("nobody interrupts");
        runs += found.runs;
        right += u32::from(truth[&found.finalists[0].candidate] >= best - NEGLIGIBLE);
    }
    println!(
        "\nSearches: {} of {studies} end at settings that brute force ({} candidates × {BRUTE} replications = {} runs) finds within {NEGLIGIBLE} of the best; {} runs each on average",
        percent(right, studies),
        all.len(),
        jobs.len(),
        runs / studies
    );
}

const BRUTE: u32 = 60;

fn space() -> Space {
    let knob = |path: &str, levels: &[&str], present| Knob {
        path: path.to_owned(),
        levels: levels.iter().map(|&level| level.to_owned()).collect(),
        present,
        ordered: true,
        bundle: None,
    };
    Space {
        knobs: vec![
            knob("num_retries", &["0", "1", "2", "3"], 0),
            knob("cooldown_time", &["1", "5", "15", "60"], 1),
            knob("allowed_fails", &["0", "1", "3", "10"], 2),
            knob("retry_after", &["0", "1"], 0),
        ],
    }
}

fn everything(space: &Space) -> Vec<Candidate> {
    let mut all = vec![Candidate(Vec::new())];
    for knob in &space.knobs {
        let levels = u16::try_from(knob.levels.len()).expect("a few");
        let longer = |candidate: &Candidate| {
            let candidate = candidate.0.clone();
            (0..levels).map(move |level| Candidate([&candidate[..], &[level]].concat()))
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

/// Three deployments, one of which is out for a fifth of the time and one fails now and then.
const OUTAGE: &str = "purpose: Which settings ride out an outage?
kind: terminating
litellm:
  model_list:
    - {model_name: m, litellm_params: {model: openai/a}, model_info: {id: a}}
    - {model_name: m, litellm_params: {model: openai/b}, model_info: {id: b}}
    - {model_name: m, litellm_params: {model: openai/c}, model_info: {id: c}}
providers:
  a: {latency: {first_token: {log_normal: {median_ms: 500, sigma: 0.5}}}, faults: [{outage: {from_s: 20, to_s: 40, status: 503}}]}
  b: {latency: {first_token: {log_normal: {median_ms: 500, sigma: 0.5}}}, faults: [{error_rate: {share: 0.05, status: 500}}]}
  c: {latency: {first_token: {log_normal: {median_ms: 500, sigma: 0.5}}}}
workload:
  arrivals: {poisson: {per_second: 20}}
  lengths: {prompt: {constant: 100}, output: {constant: 1}}
  duration_s: 100
";

struct Runner<'a> {
    space: &'a Space,
    objective: &'a Objective,
    seed: u64,
    loaded: BTreeMap<Candidate, Scenario>,
}

impl<'a> Runner<'a> {
    fn new(space: &'a Space, objective: &'a Objective, seed: u64) -> Self {
        Self {
            space,
            objective,
            seed,
            loaded: BTreeMap::new(),
        }
    }
}

impl Evaluate for Runner<'_> {
    type Error = sim::SimError;

    fn evaluate(
        &mut self,
        jobs: &[(Candidate, u32)],
    ) -> Result<Option<Vec<Vec<Option<f64>>>>, Self::Error> {
        for (candidate, _) in jobs {
            let load = || {
                let source = Source::Text {
                    name: "outage".to_owned(),
                    text: OUTAGE.to_owned(),
                };
                let options = LoadOptions {
                    sets: self.space.changes(candidate),
                    seed: Some(self.seed),
                    ..LoadOptions::default()
                };
                Scenario::load(&source, &options).expect("the scenario above is valid")
            };
            self.loaded.entry(candidate.clone()).or_insert_with(load);
        }
        let plans: Vec<_> = jobs
            .iter()
            .map(|(candidate, replication)| self.loaded[candidate].plan(0, *replication))
            .collect();
        let runs = run_plans(&plans, cores(), &())?;
        let values = |run| {
            let metrics = self.objective.metrics();
            metrics.map(|metric| metric.value(run)).collect()
        };
        Ok(Some(runs.iter().map(values).collect()))
    }
}

#[expect(clippy::cast_precision_loss, reason = "a few hundred")]
fn percent(count: u32, of: u64) -> String {
    format!("{:.1} %", 100.0 * f64::from(count) / of as f64)
}
