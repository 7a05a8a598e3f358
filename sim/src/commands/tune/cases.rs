//! The scenarios that candidates are judged in, and their runs.

use std::{collections::BTreeMap, num::NonZeroUsize, thread};

use reports::RunRecord;
use scenarios::{RunPlan, Scenario};
use sim::{
    run_plans,
    tune::{Candidate, Evaluate, Objective, Space},
};

use super::{super::sweep::without_axes, Values};
use crate::{
    cli::{ScenarioArgs, TuneArgs},
    complaint::Complaint,
    progress::{Progress, note},
};

/// A scenario and what it weighs beside the others.
pub(super) struct Case {
    scenario: ScenarioArgs,
    weight: f64,
}

/// The scenario of the command line with weight 1, and every `--also`.
pub(super) fn cases(args: &TuneArgs) -> Result<Vec<Case>, Complaint> {
    let named = args.also.iter().map(|(scenario, _)| scenario);
    let named: Vec<_> = std::iter::once(&args.scenario.scenario)
        .chain(named)
        .collect();
    if let Some(scenario) = super::knobs::twice(&named, |a, b| a == b) {
        return Err(Complaint::Usage {
            message: format!("--also {scenario}: this scenario is there already"),
            help: "name a scenario once, and say by its weight how much it counts".to_owned(),
        });
    }
    let mut cases = vec![Case {
        scenario: args.scenario.clone(),
        weight: 1.0,
    }];
    for (scenario, weight) in &args.also {
        let weight: Option<f64> = weight.parse().ok();
        let weight = weight.filter(|weight| weight.is_finite() && *weight > 0.0);
        cases.push(Case {
            scenario: ScenarioArgs {
                scenario: scenario.clone(),
                ..args.scenario.clone()
            },
            weight: weight.ok_or_else(|| Complaint::Usage {
                message: format!("--also {scenario}: its weight is no number above 0"),
                help: "the first scenario weighs 1; for example: --also region-outage=0.5".into(),
            })?,
        });
    }
    Ok(cases)
}

/// Tells of a value of a knob that the scenario cannot be read with, by the flag it was typed with.
pub(super) fn check_values(args: &TuneArgs, case: &Case, space: &Space) -> Result<(), Complaint> {
    let typed = |path: &str| args.knobs.iter().any(|(knob, _)| knob == path);
    for knob in space.knobs.iter().filter(|knob| typed(&knob.path)) {
        let levels = knob.levels.iter().enumerate();
        for (_, value) in levels.filter(|(at, _)| *at != knob.present) {
            let loaded = case.load(&[(knob.path.clone(), value.clone())], 1, 0);
            if let Err(Complaint::Input(error)) = loaded {
                return Err(Complaint::Usage {
                    message: format!("--knob {}: {value}: {}", knob.path, error.message()),
                    help: error
                        .help_text()
                        .unwrap_or("leave that value out")
                        .to_owned(),
                });
            }
        }
    }
    Ok(())
}

impl Case {
    /// The scenario without its own axes, under a candidate's changes. Sets of seeds that differ in
    /// `fresh` have no luck in common.
    pub(super) fn load(
        &self,
        changes: &[(String, String)],
        reps: u32,
        fresh: u64,
    ) -> Result<Scenario, Complaint> {
        let mut changed = self.scenario.clone();
        changed.reps = Some(reps);
        changed.sets = without_axes();
        let sets = self.scenario.sets.iter().chain(changes);
        changed.sets.extend(sets.cloned());
        let scenario = changed.load()?;
        if fresh == 0 {
            return Ok(scenario);
        }
        changed.seed = Some(scenario.seed().wrapping_add(fresh));
        changed.load()
    }

    /// As told: its name, and its weight if it is not 1.
    pub(super) fn named(&self) -> String {
        if (self.weight - 1.0).abs() < f64::EPSILON {
            return self.scenario.scenario.clone();
        }
        format!("{} (weight {})", self.scenario.scenario, self.weight)
    }
}

/// Runs candidates in every case.
pub(super) struct Runner<'a> {
    cases: &'a [Case],
    pub(super) space: &'a Space,
    pub(super) objective: &'a Objective,
    jobs: NonZeroUsize,
    /// Which set of seeds is used.
    fresh: u64,
    /// A candidate's scenarios, read once.
    loaded: BTreeMap<Candidate, Vec<Scenario>>,
    /// Records of the first case, if they are to be kept.
    pub(super) kept: Option<Vec<RunRecord>>,
}

impl<'a> Runner<'a> {
    pub(super) fn new(
        cases: &'a [Case],
        space: &'a Space,
        objective: &'a Objective,
        jobs: Option<NonZeroUsize>,
    ) -> Self {
        let cores = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        Self {
            cases,
            space,
            objective,
            jobs: jobs.unwrap_or(cores),
            fresh: 0,
            loaded: BTreeMap::new(),
            kept: None,
        }
    }

    /// Goes on with a set of seeds that has no luck in common with the others.
    pub(super) fn use_seeds(&mut self, fresh: u64) {
        self.fresh = fresh;
        self.loaded.clear();
    }

    /// Values of each candidate over `replications`; `None` if interrupted.
    pub(super) fn values_of(
        &mut self,
        candidates: &[Candidate],
        replications: u32,
    ) -> Result<Option<Vec<Values>>, Complaint> {
        let jobs: super::Jobs = candidates
            .iter()
            .flat_map(|candidate| (0..replications).map(|r| (candidate.clone(), r)))
            .collect();
        let values = self.evaluate(&jobs)?;
        let width = replications as usize;
        Ok(values.map(|values| values.chunks(width).map(<[_]>::to_vec).collect()))
    }

    fn load(&mut self, candidate: &Candidate) -> Result<(), Complaint> {
        if self.loaded.contains_key(candidate) {
            return Ok(());
        }
        let changes = self.space.changes(candidate);
        let scenarios = self
            .cases
            .iter()
            .map(|case| case.load(&changes, 1, self.fresh))
            .collect::<Result<_, _>>()?;
        self.loaded.insert(candidate.clone(), scenarios);
        Ok(())
    }

    /// Means over the cases, by weight; a value that one case does not have, nobody knows.
    fn weighted(&self, runs: &[RunRecord]) -> Vec<Option<f64>> {
        let total: f64 = self.cases.iter().map(|case| case.weight).sum();
        let metrics = self.objective.metrics();
        metrics
            .map(|metric| {
                let parts = self.cases.iter().zip(runs);
                let parts = parts.map(|(case, run)| Some(case.weight * metric.value(run)?));
                parts.sum::<Option<f64>>().map(|sum| sum / total)
            })
            .collect()
    }
}

impl Evaluate for Runner<'_> {
    type Error = Complaint;

    fn evaluate(&mut self, jobs: &[(Candidate, u32)]) -> Result<Option<Values>, Complaint> {
        for (candidate, _) in jobs {
            self.load(candidate)?;
        }
        let runs = jobs.len() * self.cases.len();
        let progress = Progress::start_batch(runs, self.jobs.get().min(runs));
        let mut values = Vec::with_capacity(jobs.len());
        // In portions, so that records of many runs are not kept at once.
        for portion in jobs.chunks(PORTION) {
            let plans: Vec<RunPlan> = portion
                .iter()
                .flat_map(|(candidate, replication)| {
                    let scenarios = self.loaded[candidate].iter();
                    scenarios.map(|scenario| scenario.plan(0, *replication))
                })
                .collect();
            let records = match run_plans(&plans, self.jobs, &progress) {
                Ok(records) if records.len() == plans.len() => records,
                Ok(_) => {
                    progress.finish();
                    return Ok(None);
                }
                Err(error) => {
                    progress.finish();
                    return Err(error.into());
                }
            };
            let by_job = records.chunks(self.cases.len());
            values.extend(by_job.clone().map(|runs| self.weighted(runs)));
            if let Some(kept) = &mut self.kept {
                kept.extend(by_job.filter_map(|runs| runs.first().cloned()));
            }
        }
        Ok((!progress.finish()).then_some(values))
    }

    fn stage(&mut self, told: &str) {
        note(told);
    }
}

/// Runs whose records are kept at once.
const PORTION: usize = 256;
