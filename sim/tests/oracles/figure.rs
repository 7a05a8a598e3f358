//! How a queueing model becomes a scenario, and a simulated figure is held against theory.

use std::{fmt::Write as _, num::NonZeroUsize, time::Duration};

use reports::{
    RunRecord,
    stats::{mean, size, student_t_quantile, variance},
};
use router::{Event, Instant, Observer};
use scenarios::{LoadOptions, RunPlan, Scenario, Source};
use sim::{for_plans, record_run, simulate};

/// Exponential with a mean of 100 ms.
pub(crate) const EXPONENTIAL: &str = "{gamma: {mean_ms: 100, cv: 1}}";

/// A model: Poisson arrivals at one group whose deployments are all alike, nothing is retried and nothing
/// is cooled unless said otherwise.
#[derive(Clone, Copy)]
pub(crate) struct Model<'a> {
    /// A model's own luck.
    pub(crate) seed: u64,
    pub(crate) profile: &'a str,
    /// What the wall clock shows at first.
    pub(crate) starts_at: &'a str,
    /// `router_settings`.
    pub(crate) settings: &'a str,
    pub(crate) deployments: u32,
    /// `litellm_params` of each deployment besides its model; `{n}` is its number.
    pub(crate) params: &'a str,
    /// How long an answer takes.
    pub(crate) service: &'a str,
    /// What a provider has besides.
    pub(crate) provider: &'a str,
    pub(crate) arrivals: &'a str,
    pub(crate) per_second: f64,
    /// Seconds of arrivals that count in each replication, and those before them that do not.
    pub(crate) counted_s: f64,
    pub(crate) warm_up_s: f64,
    pub(crate) replications: u32,
    /// More of the workload.
    pub(crate) workload: &'a str,
    /// More of the scenario.
    pub(crate) more: &'a str,
}

impl Model<'_> {
    pub(crate) const PLAIN: Self = Self {
        seed: 1,
        profile: "litellm-1.110",
        starts_at: "2026-03-02T09:00:00Z",
        settings: "disable_cooldowns: true, num_retries: 0",
        deployments: 1,
        params: "",
        service: EXPONENTIAL,
        provider: "",
        arrivals: "poisson",
        per_second: 1.0,
        counted_s: 1_000.0,
        warm_up_s: 0.0,
        replications: 40,
        workload: "",
        more: "",
    };

    /// The runs as a report would have them.
    pub(crate) fn records(&self) -> Vec<RunRecord> {
        let plans = self.plans();
        for_plans(&plans, jobs(), &(), |plan| record_run(plan, &())).unwrap()
    }

    /// What an observer of each run has in the end.
    pub(crate) fn heard<O: Observer + Send + Sync>(&self, new: impl Fn() -> O + Sync) -> Vec<O> {
        let run = |plan: &RunPlan| {
            let mut observer = new();
            simulate(plan, &mut observer)?;
            Ok(observer)
        };
        for_plans(&self.plans(), jobs(), &(), run).unwrap()
    }

    fn plans(&self) -> Vec<RunPlan> {
        let source = Source::Text {
            name: "model.yaml".to_owned(),
            text: self.text(),
        };
        let scenario = Scenario::load(&source, &LoadOptions::default())
            .unwrap_or_else(|error| panic!("{error}\n{}", self.text()));
        let mut plans = scenario.plans();
        for plan in &mut plans {
            plan.warm_up = Duration::from_secs_f64(self.warm_up_s);
        }
        plans
    }

    fn text(&self) -> String {
        let Self {
            seed,
            profile,
            starts_at,
            settings,
            service,
            provider,
            arrivals,
            per_second,
            replications,
            workload,
            more,
            ..
        } = self;
        let mut models = String::new();
        for n in 0..self.deployments {
            let params = self.params.replace("{n}", &n.to_string());
            let _ = writeln!(
                models,
                "    - {{model_name: m, litellm_params: {{model: openai/d, {params}}}, model_info: {{id: d{n}}}}}"
            );
        }
        let duration_s = self.warm_up_s + self.counted_s;
        format!(
            "purpose: A queueing model.
kind: steady
profile: {profile}
starts_at: {starts_at}
seed: {seed}
replications: {replications}
litellm:
  router_settings: {{timeout: 1000000, {settings}}}
  model_list:
{models}providers:
  default:
    latency: {{first_token: {service}}}
    {provider}
workload:
  arrivals: {{{arrivals}: {{per_second: {per_second}}}}}
  lengths: {{prompt: {{constant: 1}}, output: {{constant: 1}}}}
  duration_s: {duration_s}
  {workload}
{more}
"
        )
    }
}

/// Tests run beside each other.
fn jobs() -> NonZeroUsize {
    NonZeroUsize::new(2).unwrap()
}

/// Holds a simulated figure, of which there is one value from each replication, against theory, which
/// tells what it should be if one of its inputs were so many times as large. The interval is
/// x̄ ± t(n − 1, 99.5 %) · S / √n.
pub(crate) fn hold(what: &str, values: &[f64], theory: impl Fn(f64) -> f64) {
    let n = size(values.len());
    let found = mean(values);
    let half_width = student_t_quantile(0.995, n - 1.0) * (variance(values) / n).sqrt();
    let expected = theory(1.0);
    println!(
        "{what}: {expected:.5} by theory, {found:.5} ± {half_width:.5} simulated (± {:.2} %)",
        100.0 * half_width / found
    );
    assert!(
        half_width <= 0.01 * found.abs(),
        "{what}: the interval {found} ± {half_width} is too wide"
    );
    assert!(
        (found - expected).abs() <= half_width,
        "{what}: simulated {found} ± {half_width}, by theory {expected}"
    );
    for wrong in [0.98, 1.02] {
        let wrong = theory(wrong);
        assert!(
            (found - wrong).abs() > half_width,
            "{what}: simulated {found} ± {half_width} cannot be told from {wrong}, of another model"
        );
    }
}

/// The same figure with the part of its luck taken out that shows in another one, whose mean is known: a
/// control variate, of which A. M. Law, *Simulation Modeling and Analysis*, 5th ed., 11.4. The slope is
/// estimated, which costs a degree of freedom of forty, and is left out.
pub(crate) fn controlled(values: &[f64], control: &[f64], known_mean: f64) -> Vec<f64> {
    let (of_values, of_control) = (mean(values), mean(control));
    let pairs = || values.iter().zip(control);
    let together: f64 = pairs()
        .map(|(y, x)| (y - of_values) * (x - of_control))
        .sum();
    let alone: f64 = pairs()
        .map(|(_, x)| (x - of_control) * (x - of_control))
        .sum();
    let slope = together / alone;
    pairs().map(|(y, x)| y - slope * (x - known_mean)).collect()
}

/// Holds a figure of records against theory.
pub(crate) fn hold_records(
    what: &str,
    records: &[RunRecord],
    figure: impl Fn(&RunRecord) -> f64,
    theory: impl Fn(f64) -> f64,
) {
    let values: Vec<f64> = records.iter().map(figure).collect();
    hold(what, &values, theory);
}

/// One number by another.
#[expect(clippy::cast_precision_loss, reason = "numbers of requests")]
pub(crate) fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}

/// What arrivals find: attempts under way, over all deployments and at each. Arrivals of a Poisson process
/// see what time averages see (Wolff, Operations Research 30, 1982).
pub(crate) struct Found {
    from: Instant,
    in_flight: Vec<usize>,
    /// Arrivals that counted.
    pub(crate) arrivals: u64,
    /// By number in flight altogether: arrivals that found as many.
    pub(crate) finding: Vec<u64>,
    /// By k: deployments with k or more in flight, summed over arrivals.
    pub(crate) with_at_least: Vec<u64>,
    at_least: Vec<u64>,
}

impl Found {
    /// Of so many deployments, after a warm-up.
    pub(crate) fn new(deployments: usize, warm_up_s: f64) -> Self {
        Self {
            from: Instant::from_secs_f64(warm_up_s),
            in_flight: vec![0; deployments],
            arrivals: 0,
            finding: vec![0; MOST],
            with_at_least: vec![0; MOST],
            at_least: vec![0; MOST],
        }
    }

    /// The mean number in flight.
    pub(crate) fn mean(&self) -> f64 {
        self.moment(|n| n)
    }

    /// The variance of the number in flight.
    pub(crate) fn variance(&self) -> f64 {
        self.moment(|n| n * n) - self.mean() * self.mean()
    }

    fn moment(&self, of: impl Fn(f64) -> f64) -> f64 {
        let terms = self.finding.iter().enumerate();
        let sum: f64 = terms
            .map(|(n, &count)| of(size(n)) * share(count, self.arrivals))
            .sum();
        sum
    }
}

impl Observer for Found {
    fn observe(&mut self, at: Instant, event: &Event<'_>) {
        match *event {
            Event::Arrived { .. } if at >= self.from => {
                self.arrivals += 1;
                self.finding[self.in_flight.iter().sum::<usize>().min(MOST - 1)] += 1;
                for (sum, now) in self.with_at_least.iter_mut().zip(&self.at_least) {
                    *sum += now;
                }
            }
            Event::Sent { deployment, .. } => {
                let there = &mut self.in_flight[deployment.index()];
                *there += 1;
                self.at_least[(*there).min(MOST - 1)] += 1;
            }
            Event::Finished { deployment, .. } => {
                let there = &mut self.in_flight[deployment.index()];
                self.at_least[(*there).min(MOST - 1)] -= 1;
                *there -= 1;
            }
            _ => {}
        }
    }
}

/// Numbers in flight that are told apart.
const MOST: usize = 64;
