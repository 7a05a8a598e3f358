//! A race: candidates meet the same luck, replication after replication, and whoever is shown to be
//! worse than the best so far is out.
//!
//! "Shown" is the one-sided paired t test of the scores at [`Rules::alpha`], from [`Rules::fewest`]
//! replications on. Two candidates whose scores were the same in each of them are one: the one that
//! changes less stays. (Maron and Moore, "Hoeffding races", 1994, for the idea; Birattari et al.,
//! "A racing algorithm for configuring metaheuristics", 2002, for blocks by replication.)

use std::collections::BTreeMap;

use reports::stats::{mean, p_above_zero, size, variance};

use super::{
    objective::Objective,
    search::Evaluate,
    space::{Candidate, Space},
};

/// How a race is run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Rules {
    /// Replications before anybody is out.
    pub(super) fewest: u32,
    /// Replications after which it ends.
    pub(super) most: u32,
    /// It ends when no more than this many are left.
    pub(super) enough: usize,
    /// Chance of putting out somebody who is not worse, for each test.
    pub(super) alpha: f64,
}

/// Values that runs gave, by candidate and replication.
#[derive(Debug, Default)]
pub(super) struct Table {
    values: BTreeMap<Candidate, Vec<Vec<Option<f64>>>>,
    pub(super) runs: u64,
}

impl Table {
    /// Runs what is not known yet, so that each candidate has this many replications. `None` if
    /// called off.
    pub(super) fn fill<E: Evaluate>(
        &mut self,
        candidates: &[Candidate],
        replications: u32,
        evaluate: &mut E,
    ) -> Result<Option<()>, E::Error> {
        let mut jobs = Vec::new();
        for candidate in candidates {
            let known = self.values.get(candidate).map_or(0, Vec::len);
            let known = u32::try_from(known).unwrap_or(u32::MAX);
            jobs.extend((known..replications).map(|replication| (candidate.clone(), replication)));
        }
        if jobs.is_empty() {
            return Ok(Some(()));
        }
        let Some(values) = evaluate.evaluate(&jobs)? else {
            return Ok(None);
        };
        self.runs += jobs.len() as u64;
        for ((candidate, _), values) in jobs.into_iter().zip(values) {
            self.values.entry(candidate).or_default().push(values);
        }
        Ok(Some(()))
    }

    /// A candidate's score in each replication that it has, against the present settings' values.
    pub(super) fn scores(
        &self,
        of: &Candidate,
        present: &Candidate,
        objective: &Objective,
    ) -> Vec<f64> {
        let rows = |c| self.values.get(c).map_or(&[][..], Vec::as_slice);
        objective.scores(rows(of), rows(present))
    }

    /// Mean of each value over the replications that a candidate has.
    pub(super) fn means(&self, of: &Candidate) -> Vec<Option<f64>> {
        let rows = self.values.get(of).map_or(&[][..], Vec::as_slice);
        let columns = rows.first().map_or(0, Vec::len);
        let mean = |column: usize| {
            let known: Vec<f64> = rows.iter().filter_map(|row| row[column]).collect();
            reports::stats::mean_interval(&known).map(|estimate| estimate.mean)
        };
        (0..columns).map(mean).collect()
    }

    /// Every candidate that was run.
    pub(super) fn candidates(&self) -> impl Iterator<Item = (&Candidate, usize)> {
        self.values.iter().map(|(c, rows)| (c, rows.len()))
    }
}

/// Who is left, the best first; `None` if called off.
pub(super) fn race<E: Evaluate>(
    mut field: Vec<Candidate>,
    from: u32,
    rules: Rules,
    space: &Space,
    objective: &Objective,
    table: &mut Table,
    evaluate: &mut E,
) -> Result<Option<Vec<Candidate>>, E::Error> {
    let present = space.present();
    let mut replications = from.max(1);
    loop {
        let mut needed = field.clone();
        if !needed.contains(&present) {
            needed.push(present.clone());
        }
        if table.fill(&needed, replications, evaluate)?.is_none() {
            return Ok(None);
        }
        let mut ranked: Vec<(Candidate, Vec<f64>)> = field
            .iter()
            .map(|c| {
                let mut scores = table.scores(c, &present, objective);
                scores.truncate(replications as usize);
                (c.clone(), scores)
            })
            .collect();
        ranked.sort_by(|(a, x), (b, y)| {
            let by_score = mean(y).total_cmp(&mean(x));
            let by_change = space.distance(a).cmp(&space.distance(b));
            by_score.then(by_change).then_with(|| a.cmp(b))
        });
        if replications >= rules.fewest {
            put_out(&mut ranked, rules.alpha);
        }
        field = ranked.into_iter().map(|(candidate, _)| candidate).collect();
        let over = replications >= rules.most
            || (field.len() <= rules.enough && replications >= rules.fewest);
        if over {
            return Ok(Some(field));
        }
        replications += 1;
    }
}

/// Takes out whoever is shown to be worse than the first, and who is the same as somebody before.
fn put_out(ranked: &mut Vec<(Candidate, Vec<f64>)>, alpha: f64) {
    let Some((_, best)) = ranked.first().cloned() else {
        return;
    };
    let mut kept: Vec<(Candidate, Vec<f64>)> = Vec::new();
    for (candidate, scores) in ranked.drain(..) {
        let twin = kept.iter().any(|(_, others)| same(others, &scores));
        if !twin && p_worse(&best, &scores) >= alpha {
            kept.push((candidate, scores));
        }
    }
    *ranked = kept;
}

fn same(a: &[f64], b: &[f64]) -> bool {
    a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits())
}

/// One-sided p-value of "no worse than the best".
fn p_worse(best: &[f64], other: &[f64]) -> f64 {
    let differences: Vec<f64> = best.iter().zip(other).map(|(b, o)| b - o).collect();
    let n = size(differences.len());
    let error = (variance(&differences) / n).sqrt();
    p_above_zero(mean(&differences), error, (n - 1.0).max(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(scores: &[&[f64]]) -> Vec<(Candidate, Vec<f64>)> {
        let of = |(at, scores): (usize, &&[f64])| {
            let at = u16::try_from(at).unwrap();
            (Candidate(vec![at]), scores.to_vec())
        };
        scores.iter().enumerate().map(of).collect()
    }

    fn left(scores: &[&[f64]]) -> Vec<u16> {
        let mut ranked = field(scores);
        put_out(&mut ranked, 0.01);
        ranked
            .into_iter()
            .map(|(candidate, _)| candidate.0[0])
            .collect()
    }

    #[test]
    fn who_is_shown_to_be_worse_is_out_and_who_is_not_stays() {
        let best = [0.90, 0.91, 0.89, 0.92, 0.90];
        let near = [0.91, 0.89, 0.90, 0.91, 0.90];
        let worse = [0.80, 0.82, 0.79, 0.81, 0.80];

        assert_eq!(left(&[&best, &near, &worse]), [0, 1]);
    }

    #[test]
    fn who_is_always_worse_by_the_same_is_out_and_twins_are_one() {
        let best = [0.90, 0.91, 0.89];
        let shifted = [0.89, 0.90, 0.88];

        assert_eq!(left(&[&best, &best, &shifted]), [0]);
    }
}
