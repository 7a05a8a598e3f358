//! Which knobs matter: the elementary effects of Morris.
//!
//! A trajectory starts at a random candidate and moves every knob once, in random order, by about
//! half of its levels. The change of the score at a knob's move is an elementary effect. The mean of
//! their absolute values over trajectories says how much the knob matters (μ*), their spread whether
//! its effect depends on the others (σ).
//!
//! Sources: M. D. Morris, Technometrics 33 (1991); F. Campolongo et al., Environ. Model. Softw. 22
//! (2007) for μ*.

use reports::stats::{mean_interval, variance};
use router::KeyedRng;

use super::space::{Candidate, Space, level, shuffle};

/// What a knob's moves did to the score.
#[derive(Clone, PartialEq, Debug)]
pub struct Effect {
    /// The knob's place in the space.
    pub knob: usize,
    /// Mean of the absolute effects, in units of the score.
    pub mu_star: f64,
    /// Their standard deviation (of the signed effects).
    pub sigma: f64,
    /// Moves that were measured.
    pub moves: usize,
}

/// Candidates to be run, in the order in which they are visited: each differs from the one before it
/// by the knob that is named.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Trajectory {
    pub(super) points: Vec<Candidate>,
    pub(super) moved: Vec<usize>,
}

pub(super) fn trajectories(space: &Space, n: usize, rng: &mut KeyedRng) -> Vec<Trajectory> {
    (0..n).map(|_| trajectory(space, rng)).collect()
}

fn trajectory(space: &Space, rng: &mut KeyedRng) -> Trajectory {
    let start = space.knobs.iter().map(|k| level(rng.below(k.levels.len())));
    let mut at = Candidate(start.collect());
    let mut order: Vec<usize> = (0..space.knobs.len()).collect();
    order.retain(|&knob| space.knobs[knob].levels.len() > 1);
    shuffle(&mut order, rng);
    let mut points = vec![at.clone()];
    for &knob in &order {
        let levels = space.knobs[knob].levels.len();
        let step = (levels / 2).max(1);
        let here = usize::from(at.0[knob]);
        at.0[knob] = level((here + step) % levels);
        points.push(at.clone());
    }
    Trajectory {
        points,
        moved: order,
    }
}

/// The effects, the greatest first. Scores come trajectory by trajectory, point by point.
pub(super) fn effects(space: &Space, walked: &[Trajectory], scores: &[Vec<f64>]) -> Vec<Effect> {
    let mut changes: Vec<Vec<f64>> = vec![Vec::new(); space.knobs.len()];
    for (trajectory, scores) in walked.iter().zip(scores) {
        for (&knob, pair) in trajectory.moved.iter().zip(scores.windows(2)) {
            // From or to settings under which nothing is answered: as large as can be.
            changes[knob].push((pair[1] - pair[0]).clamp(-LARGEST, LARGEST));
        }
    }
    let mut effects: Vec<Effect> = changes
        .iter()
        .enumerate()
        .map(|(knob, changes)| {
            let absolute: Vec<f64> = changes.iter().map(|change| change.abs()).collect();
            let mu_star = mean_interval(&absolute).map_or(0.0, |estimate| estimate.mean);
            Effect {
                knob,
                mu_star,
                sigma: variance(changes).sqrt(),
                moves: changes.len(),
            }
        })
        .collect();
    effects.sort_by(|a, b| b.mu_star.total_cmp(&a.mu_star).then(a.knob.cmp(&b.knob)));
    effects
}

/// The greatest effect of a move: that of one after which nothing is answered, in units of the score.
const LARGEST: f64 = 10.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tune::space::tests::{rng, space};

    /// The score is 3·k0 + k1·k2, and k3 plays no part.
    fn score(candidate: &Candidate) -> f64 {
        let k = |at: usize| f64::from(candidate.0[at]);
        3.0 * k(0) + k(1) * k(2)
    }

    #[test]
    fn a_knob_without_effect_has_none_and_one_that_depends_on_others_spreads() {
        let space = space(&[4, 4, 4, 4]);
        let walked = trajectories(&space, 20, &mut rng());
        let scores: Vec<Vec<f64>> = walked
            .iter()
            .map(|t| t.points.iter().map(score).collect())
            .collect();

        let effects = effects(&space, &walked, &scores);

        let of = |knob| effects.iter().find(|effect| effect.knob == knob).unwrap();
        assert_eq!(effects[0].knob, 0);
        assert!((of(0).mu_star - 6.0).abs() < 1e-12, "two steps of three");
        assert!(of(3).mu_star.abs() < 1e-12);
        assert!(of(1).sigma > 0.5 && of(2).sigma > 0.5);
        assert_eq!(of(3).moves, 20);
    }

    #[test]
    fn a_trajectory_moves_every_knob_once() {
        let space = space(&[3, 2, 5]);

        for walk in trajectories(&space, 10, &mut rng()) {
            assert_eq!(walk.points.len(), 4);
            for (pair, &moved) in walk.points.windows(2).zip(&walk.moved) {
                let differs = |knob: usize| pair[0].0[knob] != pair[1].0[knob];
                assert!((0..3).all(|knob| differs(knob) == (knob == moved)));
            }
        }
    }
}
