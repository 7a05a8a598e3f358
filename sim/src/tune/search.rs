//! The whole search: screening, race, local search, and who goes to the proof.

use reports::stats::mean;
use router::{KeyedRng, Purpose, Seed};

use super::{
    morris::{Effect, effects, trajectories},
    objective::{Objective, WORST},
    race::{Rules, Table, race},
    space::{Candidate, Space},
};

/// What runs candidates.
pub trait Evaluate {
    /// Why a run cannot be done.
    type Error;

    /// The values of [`Objective::metrics`] for each candidate and replication, in the order of the
    /// jobs; `None` if the user called it off.
    ///
    /// # Errors
    ///
    /// If a run cannot be done.
    #[expect(clippy::type_complexity, reason = "values of jobs, or none")]
    fn evaluate(
        &mut self,
        jobs: &[(Candidate, u32)],
    ) -> Result<Option<Vec<Vec<Option<f64>>>>, Self::Error>;

    /// A stage of the search begins.
    fn stage(&mut self, _told: &str) {}
}

/// How much is tried.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Budget {
    /// Candidates in the race.
    pub candidates: usize,
    /// Most replications of a candidate.
    pub replications: u32,
    /// Trajectories of the screening.
    pub trajectories: usize,
    /// Candidates that go to the proof, besides the present settings.
    pub finalists: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            candidates: 500,
            replications: 20,
            trajectories: 6,
            finalists: 4,
        }
    }
}

/// What a search found, before its proof.
#[derive(Clone, PartialEq, Debug)]
pub struct Found {
    /// Which knobs matter, the most important first.
    pub effects: Vec<Effect>,
    /// Knobs that were let vary in the race.
    pub free: Vec<usize>,
    /// Who goes to the proof, the best first; the present settings are among them.
    pub finalists: Vec<Finalist>,
    /// Every candidate with at least [`FEWEST`] replications that no other beats in every metric.
    pub frontier: Vec<Finalist>,
    /// Different candidates that were run.
    pub tried: usize,
    /// Runs that were done.
    pub runs: u64,
}

/// A candidate and what its runs gave.
#[derive(Clone, PartialEq, Debug)]
pub struct Finalist {
    /// Who.
    pub candidate: Candidate,
    /// Means of [`Objective::metrics`].
    pub means: Vec<Option<f64>>,
    /// Replications behind them.
    pub replications: usize,
}

/// Searches; `None` if the user called it off before anything was found.
///
/// # Errors
///
/// As [`Evaluate::evaluate`].
pub fn tune<E: Evaluate>(
    space: &Space,
    objective: &Objective,
    budget: Budget,
    seed: Seed,
    evaluate: &mut E,
) -> Result<Option<Found>, E::Error> {
    let mut rng = KeyedRng::new(seed, SEARCH, 0, 0);
    let mut table = Table::default();
    let present = space.present();

    evaluate.stage("screening: which settings matter");
    let Some(effects) = screen(space, objective, budget, &mut rng, &mut table, evaluate)? else {
        return Ok(None);
    };
    let free: Vec<usize> = effects
        .iter()
        .filter(|effect| effect.mu_star >= NEGLIGIBLE)
        .map(|effect| effect.knob)
        .collect();

    evaluate.stage("race: who is worse is out");
    let mut field = space.draw(&present, &free, budget.candidates, &mut rng);
    if !field.contains(&present) {
        field.push(present.clone());
    }
    let rules = Rules {
        fewest: FEWEST,
        most: budget.replications,
        enough: budget.finalists,
        alpha: ALPHA,
    };
    let left = race(field, FEWEST, rules, space, objective, &mut table, evaluate)?;
    let Some(mut left) = left else {
        return Ok(None);
    };

    evaluate.stage("local search: one step from the best");
    for _ in 0..STEPS {
        let best = left[0].clone();
        let mut field = space.neighbours(&best, &free);
        field.extend(left.iter().cloned());
        field.sort();
        field.dedup();
        match race(field, FEWEST, rules, space, objective, &mut table, evaluate)? {
            Some(next) => left = next,
            None => break,
        }
        let gain = mean(&table.scores(&left[0], &present, objective))
            - mean(&table.scores(&best, &present, objective));
        if gain < NEGLIGIBLE {
            break;
        }
    }

    evaluate.stage("simplifying: every change must earn its place");
    let Some(simplest) = simplify(
        &left[0], &effects, budget, space, objective, &mut table, evaluate,
    )?
    else {
        return Ok(None);
    };
    left.retain(|candidate| *candidate != simplest);
    left.insert(0, simplest);
    left.truncate(budget.finalists);
    if !left.contains(&present) {
        left.push(present.clone());
    }
    let finalist = |candidate: &Candidate| Finalist {
        candidate: candidate.clone(),
        means: table.means(candidate),
        replications: table
            .candidates()
            .find(|(c, _)| *c == candidate)
            .map_or(0, |(_, n)| n),
    };
    let known: Vec<Finalist> = table
        .candidates()
        .filter(|(_, n)| *n >= FEWEST as usize)
        .map(|(candidate, _)| finalist(candidate))
        .collect();
    Ok(Some(Found {
        effects,
        free,
        finalists: left.iter().map(finalist).collect(),
        frontier: frontier(&known, objective),
        tried: table.candidates().count(),
        runs: table.runs,
    }))
}

fn screen<E: Evaluate>(
    space: &Space,
    objective: &Objective,
    budget: Budget,
    rng: &mut KeyedRng,
    table: &mut Table,
    evaluate: &mut E,
) -> Result<Option<Vec<Effect>>, E::Error> {
    let walked = trajectories(space, budget.trajectories, rng);
    let present = space.present();
    let mut points: Vec<Candidate> = walked.iter().flat_map(|t| t.points.clone()).collect();
    points.push(present.clone());
    points.sort();
    points.dedup();
    if table.fill(&points, 1, evaluate)?.is_none() {
        return Ok(None);
    }
    let score = |c: &Candidate| {
        let scores = table.scores(c, &present, objective);
        scores.first().copied().unwrap_or(WORST)
    };
    let scores: Vec<Vec<f64>> = walked
        .iter()
        .map(|t| t.points.iter().map(score).collect())
        .collect();
    Ok(Some(effects(space, &walked, &scores)))
}

/// The candidate without the changes that do not help: knob by knob, the least important first, back
/// to the present setting unless that costs something.
fn simplify<E: Evaluate>(
    of: &Candidate,
    effects: &[Effect],
    budget: Budget,
    space: &Space,
    objective: &Objective,
    table: &mut Table,
    evaluate: &mut E,
) -> Result<Option<Candidate>, E::Error> {
    let present = space.present();
    let mut best = of.clone();
    for effect in effects.iter().rev() {
        let mut simpler = best.clone();
        simpler.0[effect.knob].clone_from(&present.0[effect.knob]);
        if simpler == best {
            continue;
        }
        let all = [present.clone(), best.clone(), simpler.clone()];
        if table.fill(&all, budget.replications, evaluate)?.is_none() {
            return Ok(None);
        }
        let scores = |candidate| table.scores(candidate, &present, objective);
        let (with, without) = (scores(&best), scores(&simpler));
        if mean(&with) - mean(&without) < NEGLIGIBLE {
            best = simpler;
        }
    }
    Ok(Some(best))
}

/// Who is beaten by nobody: nobody else is at least as good in every metric and better in one.
fn frontier(known: &[Finalist], objective: &Objective) -> Vec<Finalist> {
    let better = |at: usize, a: f64, b: f64| {
        let metric = objective.metrics().nth(at);
        metric.is_some_and(|m| m.better().improves(a - b) == Some(true))
    };
    let beats = |a: &Finalist, b: &Finalist| {
        let pairs: Vec<(usize, f64, f64)> = (a.means.iter().zip(&b.means).enumerate())
            .filter_map(|(at, (a, b))| Some((at, (*a)?, (*b)?)))
            .collect();
        pairs.iter().any(|&(at, a, b)| better(at, a, b))
            && !pairs.iter().any(|&(at, a, b)| better(at, b, a))
    };
    known
        .iter()
        .filter(|one| !known.iter().any(|other| beats(other, one)))
        .cloned()
        .collect()
}

/// The probability that a choice is right, as far as the runs tell: how often no other row's mean is
/// greater than the chosen row's by more than `indifference` if the replications are drawn again
/// (bootstrap over replications, the same for all rows). Rows are scores of one candidate, column i
/// is replication i of all.
///
/// Source: B. Efron, Ann. Statist. 7 (1979), for the bootstrap; R. E. Bechhofer, Ann. Math. Statist.
/// 25 (1954), for the indifference zone.
#[must_use]
pub fn probability_right(scores: &[Vec<f64>], chosen: usize, indifference: f64, seed: Seed) -> f64 {
    let n = scores.iter().map(Vec::len).min().unwrap_or(0);
    if n == 0 {
        return 0.0;
    }
    let mut rng = KeyedRng::new(seed, BOOTSTRAP, 0, 0);
    let mut right = 0_u32;
    for _ in 0..RESAMPLES {
        let drawn: Vec<usize> = (0..n).map(|_| rng.below(n)).collect();
        let of = |row: &Vec<f64>| mean(&drawn.iter().map(|&at| row[at]).collect::<Vec<_>>());
        let best = scores.iter().map(of).fold(f64::NEG_INFINITY, f64::max);
        right += u32::from(of(&scores[chosen]) >= best - indifference);
    }
    f64::from(right) / f64::from(RESAMPLES)
}

const SEARCH: Purpose = Purpose::named("tune.search");
const BOOTSTRAP: Purpose = Purpose::named("tune.bootstrap");

/// Replications before anybody is out.
pub const FEWEST: u32 = 4;
/// Chance of putting out somebody who is not worse, for each test.
const ALPHA: f64 = 0.01;
/// A gain of the score that does not matter: 1 % of what it is measured in. Knobs whose moves change
/// less are left alone, changes that gain less are not made, and of candidates that differ by less
/// the one that changes the fewest settings is chosen.
pub const NEGLIGIBLE: f64 = 0.01;
/// Steps of the local search.
const STEPS: usize = 10;
const RESAMPLES: u32 = 4_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tune::space::tests::space;

    /// Goodput with a peak at (3, 1), nothing from the third knob, and noise that candidates of a
    /// replication share in part.
    struct Hill {
        runs: usize,
    }

    impl Evaluate for Hill {
        type Error = ();

        fn evaluate(
            &mut self,
            jobs: &[(Candidate, u32)],
        ) -> Result<Option<Vec<Vec<Option<f64>>>>, ()> {
            self.runs += jobs.len();
            let value = |(candidate, replication): &(Candidate, u32)| {
                let k = |at: usize| f64::from(candidate.0[at]);
                let hill =
                    0.95 - 0.02 * libm::pow(k(0) - 3.0, 2.0) - 0.03 * libm::pow(k(1) - 1.0, 2.0);
                let key = u64::from(*replication);
                let shared = KeyedRng::new(Seed(7), BOOTSTRAP, key, 0).unit();
                let own = u64::from(candidate.0[0]) * 64 + u64::from(candidate.0[1]);
                let own = KeyedRng::new(Seed(8), BOOTSTRAP, key, own);
                let noise = 0.05 * shared + 0.01 * { own }.unit();
                vec![Some(hill + noise)]
            };
            Ok(Some(jobs.iter().map(value).collect()))
        }
    }

    fn found() -> (Found, usize) {
        let space = space(&[6, 4, 5]);
        let objective = Objective::read("maximize goodput").unwrap();
        let budget = Budget {
            candidates: 60,
            ..Budget::default()
        };
        let mut hill = Hill { runs: 0 };
        let found = tune(&space, &objective, budget, Seed(1), &mut hill);
        (found.unwrap().unwrap(), hill.runs)
    }

    #[test]
    fn the_peak_is_found_and_what_plays_no_part_is_left_as_it_is() {
        let (found, runs) = found();

        assert_eq!(found.finalists[0].candidate, Candidate(vec![3, 1, 0]));
        assert_eq!(found.free, [0, 1]);
        assert!(found.finalists.len() >= 2, "the present is there too");
        assert_eq!(found.runs, runs as u64);
        // Every one of the 24 candidates over all replications would be 480 runs.
        assert!(runs < 400, "{runs} runs");
    }

    #[test]
    fn the_same_seed_finds_the_same() {
        assert_eq!(found().0, found().0);
    }

    #[test]
    fn the_probability_of_the_choice_follows_the_overlap() {
        let far = [vec![1.0, 1.1, 0.9, 1.0], vec![0.5, 0.6, 0.4, 0.5]];
        let near = [vec![1.0, 1.1, 0.9, 1.0], vec![1.1, 1.0, 1.0, 0.9]];

        let right = |scores: &[Vec<f64>], chosen| probability_right(scores, chosen, 0.01, Seed(1));
        assert!((right(&far, 0) - 1.0).abs() < 1e-12);
        assert!(right(&far, 1) < 1e-12);
        assert!((0.3..0.8).contains(&right(&near, 0)), "{}", right(&near, 0));
        assert!((probability_right(&near, 0, 0.5, Seed(1)) - 1.0).abs() < 1e-12);
    }
}
