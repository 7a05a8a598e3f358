//! The proof: finalists meet seeds that the search has not seen, one is chosen, and the choice meets
//! the present settings on seeds that the choosing has not seen. So neither the search nor the
//! choosing among finalists flatters the numbers that are told.

use reports::{
    Metric, RunRecord, SweepRecord,
    stats::{self, Estimate},
};
use router::Seed;
use sim::tune::{
    Candidate, Finalist, Found, NEGLIGIBLE, Objective, Space, WORST, probability_right,
};

use super::{
    super::compare::{Side, side_by_side},
    Values,
    cases::{Case, Runner},
    label,
};
use crate::{complaint::Complaint, progress::note};

/// What fresh seeds gave.
pub(super) struct Proof {
    /// The present settings, then the finalists, then what else nobody beats.
    pub(super) candidates: Vec<Candidate>,
    /// Values of each on the seeds of the choosing.
    pub(super) values: Vec<Values>,
    /// Place of the one that is chosen.
    pub(super) best: usize,
    /// Probability that none of the others is better by more than what does not matter.
    pub(super) chance: f64,
    /// The present settings against the best on the seeds of the check; `None` if they are the best.
    pub(super) check: Option<Check>,
    records: Vec<RunRecord>,
}

/// The choice against the present settings.
pub(super) struct Check {
    /// Values under the present settings.
    pub(super) present: Values,
    /// Values under the choice.
    pub(super) best: Values,
    /// The gain of the score.
    gain: Option<Estimate>,
}

impl Check {
    /// Whether the gain is beyond chance: its 95 % interval lies above 0.
    pub(super) fn is_shown(&self) -> bool {
        let interval = self.gain.and_then(|gain| gain.interval());
        interval.is_some_and(|(low, _)| low > 0.0)
    }

    /// Whether the gain is shown and worth a change.
    pub(super) fn is_worth_it(&self) -> bool {
        self.is_shown() && self.gain.is_some_and(|gain| gain.mean >= NEGLIGIBLE)
    }
}

/// Proves what was found; `None` if interrupted.
pub(super) fn prove(
    runner: &mut Runner<'_>,
    found: &Found,
    replications: u32,
    seed: Seed,
) -> Result<Option<Proof>, Complaint> {
    let candidates = who_is_proved(runner.space, runner.objective, found);
    note("proof: the finalists on fresh seeds");
    runner.use_seeds(CHOOSING);
    runner.kept = Some(Vec::new());
    let Some(values) = runner.values_of(&candidates, replications)? else {
        return Ok(None);
    };
    let records = runner.kept.take().unwrap_or_default();
    let objective = runner.objective;
    let scores: Vec<Vec<f64>> = values
        .iter()
        .map(|one| objective.scores(one, &values[0]))
        .collect();
    let changed = |at: usize| runner.space.distance(&candidates[at]);
    let best = best_of(&scores, changed);
    let chance = probability_right(&scores, best, NEGLIGIBLE, seed);
    let mut check = None;
    if best > 0 {
        note("check: the choice against the present settings on further seeds");
        runner.use_seeds(CHECKING);
        let pair = [candidates[0].clone(), candidates[best].clone()];
        let Some(values) = runner.values_of(&pair, replications)? else {
            return Ok(None);
        };
        check = values_of_check(values, runner.objective);
    }
    Ok(Some(Proof {
        candidates,
        values,
        best,
        chance,
        check,
        records,
    }))
}

impl Proof {
    /// What the user is told to run with.
    pub(super) fn advised(&self) -> Candidate {
        let worth_it = self.check.as_ref().is_some_and(Check::is_worth_it);
        self.candidates[if worth_it { self.best } else { 0 }].clone()
    }

    /// A candidate's mean of a metric over its runs in the first scenario.
    pub(super) fn mean(&self, candidate: usize, metric: &dyn Metric) -> Option<f64> {
        let runs = self.records.chunks(self.values[0].len()).nth(candidate)?;
        let values: Option<Vec<f64>> = runs.iter().map(|run| metric.value(run)).collect();
        values.map(|values| stats::mean(&values))
    }

    /// The runs in the first scenario, as a sweep over the candidates.
    pub(super) fn sweep(
        &self,
        case: &Case,
        space: &Space,
        command: String,
    ) -> Result<SweepRecord, Complaint> {
        let replications = self.values[0].len();
        let reps = u32::try_from(replications).unwrap_or(u32::MAX);
        let sides = self
            .candidates
            .iter()
            .map(|candidate| {
                let changes = space.changes(candidate);
                Ok(Side {
                    label: label(&changes),
                    scenario: case.load(&changes, reps, CHOOSING)?,
                })
            })
            .collect::<Result<Vec<_>, Complaint>>()?;
        let by_arm = self.records.chunks(replications).enumerate();
        let runs = by_arm
            .flat_map(|(arm, runs)| runs.iter().map(move |run| RunRecord { arm, ..run.clone() }));
        Ok(side_by_side(
            "settings",
            &sides,
            runs.collect(),
            command,
            false,
        ))
    }
}

/// The present settings, the finalists, and of what nobody beats as many as are left of
/// [`MOST_PROVED`], evenly over the part of the frontier that is no worse at what is asked for.
fn who_is_proved(space: &Space, objective: &Objective, found: &Found) -> Vec<Candidate> {
    let present = space.present();
    let of_present = found.finalists.iter().find(|one| one.candidate == present);
    let of_present = of_present.and_then(|one| *one.means.first()?);
    let is_worse = |one: &&Finalist| {
        let value = one.means.first().copied().flatten();
        let change = value
            .zip(of_present)
            .map(|(value, present)| value - present);
        change.is_none_or(|change| objective.metric.better().improves(change) == Some(false))
    };
    let frontier: Vec<&Finalist> = found.frontier.iter().filter(|one| !is_worse(one)).collect();
    let mut proved = vec![present];
    let mut add = |candidate: &Candidate| {
        if !proved.contains(candidate) {
            proved.push(candidate.clone());
        }
        proved.len()
    };
    for finalist in &found.finalists {
        add(&finalist.candidate);
    }
    let step = frontier.len().div_ceil(MOST_PROVED).max(1);
    for one in frontier.into_iter().step_by(step) {
        if add(&one.candidate) >= MOST_PROVED {
            break;
        }
    }
    proved
}

fn values_of_check(values: Vec<Values>, objective: &Objective) -> Option<Check> {
    let [present, best] = <[Values; 2]>::try_from(values).ok()?;
    let scores = |values: &Values| objective.scores(values, &present);
    let gain = stats::paired_difference(&scores(&best), &scores(&present));
    Some(Check {
        gain: gain.map(|gain| gain.difference),
        present,
        best,
    })
}

/// Of those whose mean score is the greatest, or less by what does not matter, the one that changes
/// the fewest settings.
fn best_of(scores: &[Vec<f64>], changed: impl Fn(usize) -> usize) -> usize {
    let mean = |at: usize| stats::mean_interval(&scores[at]).map_or(WORST, |e| e.mean);
    let greatest = (0..scores.len()).map(mean).fold(WORST, f64::max);
    let good = (0..scores.len()).filter(|&at| mean(at) > greatest - NEGLIGIBLE);
    good.min_by_key(|&at| changed(at)).unwrap_or(0)
}

/// Sets of seeds that have no luck in common; the search's is 0.
const CHOOSING: u64 = 1_000_003;
const CHECKING: u64 = 2_000_003;
/// Candidates in the proof.
const MOST_PROVED: usize = 12;
