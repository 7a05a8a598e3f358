//! The settings that a search may choose from: knobs with levels.

use router::KeyedRng;

/// A setting that may be changed.
#[derive(Clone, PartialEq, Debug)]
pub struct Knob {
    /// The path of the setting, as `--set` takes it.
    pub path: String,
    /// Its values as written in YAML, in an order in which neighbours are alike. One of them stands
    /// for the present setting.
    pub levels: Vec<String>,
    /// Which of the levels is the present setting.
    pub present: usize,
    /// Whether the levels have an order (numbers), so that only the next ones are neighbours.
    pub ordered: bool,
    /// Knobs of one bundle are written together or not at all: a weight means nothing while the
    /// other deployments of its group have none.
    pub bundle: Option<usize>,
}

/// Everything that may be chosen.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Space {
    /// The knobs.
    pub knobs: Vec<Knob>,
}

/// A level for each knob.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct Candidate(pub Vec<u16>);

impl Space {
    /// The present settings.
    #[must_use]
    pub fn present(&self) -> Candidate {
        Candidate(self.knobs.iter().map(|knob| level(knob.present)).collect())
    }

    /// What a candidate changes, as path and value; empty for the present settings.
    #[must_use]
    pub fn changes(&self, candidate: &Candidate) -> Vec<(String, String)> {
        let moved = |(knob, at): (&Knob, &u16)| usize::from(*at) != knob.present;
        let knobs = || self.knobs.iter().zip(&candidate.0);
        let bundles: Vec<usize> = knobs()
            .filter(|&one| moved(one))
            .filter_map(|(knob, _)| knob.bundle)
            .collect();
        let bundled = |knob: &Knob| knob.bundle.is_some_and(|bundle| bundles.contains(&bundle));
        knobs()
            .filter(|&(knob, at)| moved((knob, at)) || bundled(knob))
            .map(|(knob, at)| (knob.path.clone(), knob.levels[usize::from(*at)].clone()))
            .collect()
    }

    /// How many knobs a candidate changes.
    #[must_use]
    pub fn distance(&self, candidate: &Candidate) -> usize {
        let knobs = self.knobs.iter().zip(&candidate.0);
        knobs
            .filter(|(knob, at)| usize::from(**at) != knob.present)
            .count()
    }

    /// Candidates drawn so that each knob's levels come up equally often (a Latin hypercube over
    /// the levels), with knobs outside `free` at their level in `base`.
    ///
    /// Source: McKay, Beckman, Conover, Technometrics 21 (1979).
    pub(super) fn draw(
        &self,
        base: &Candidate,
        free: &[usize],
        n: usize,
        rng: &mut KeyedRng,
    ) -> Vec<Candidate> {
        let mut drawn = vec![base.clone(); n];
        for &knob in free {
            let levels = self.knobs[knob].levels.len();
            let mut column: Vec<usize> = (0..n).map(|i| i * levels / n.max(1)).collect();
            shuffle(&mut column, rng);
            for (candidate, at) in drawn.iter_mut().zip(column) {
                candidate.0[knob] = level(at);
            }
        }
        drawn.sort();
        drawn.dedup();
        drawn
    }

    /// Candidates that differ in one knob of `free`: by a step where its levels have an order, by
    /// any other level elsewhere.
    pub(super) fn neighbours(&self, of: &Candidate, free: &[usize]) -> Vec<Candidate> {
        let mut found = Vec::new();
        for &knob in free {
            let at = usize::from(of.0[knob]);
            let Knob {
                levels, ordered, ..
            } = &self.knobs[knob];
            for to in 0..levels.len() {
                let near = !ordered || at.abs_diff(to) == 1;
                if to != at && near {
                    let mut neighbour = of.clone();
                    neighbour.0[knob] = level(to);
                    found.push(neighbour);
                }
            }
        }
        found
    }

    /// How many candidates there are; `None` if more than 2^64.
    #[must_use]
    pub fn size(&self) -> Option<u64> {
        let levels = self.knobs.iter().map(|knob| knob.levels.len() as u64);
        levels.into_iter().try_fold(1_u64, u64::checked_mul)
    }
}

pub(super) fn level(at: usize) -> u16 {
    u16::try_from(at).expect("a knob has few levels")
}

/// Fisher and Yates.
pub(super) fn shuffle<T>(items: &mut [T], rng: &mut KeyedRng) {
    for at in (1..items.len()).rev() {
        items.swap(at, rng.below(at + 1));
    }
}

#[cfg(test)]
pub(super) mod tests {
    use router::{Purpose, Seed};

    use super::*;

    pub(crate) fn space(levels: &[usize]) -> Space {
        let knob = |(at, &levels): (usize, &usize)| Knob {
            path: format!("k{at}"),
            levels: (0..levels).map(|l| l.to_string()).collect(),
            present: 0,
            ordered: true,
            bundle: None,
        };
        Space {
            knobs: levels.iter().enumerate().map(knob).collect(),
        }
    }

    pub(crate) fn rng() -> KeyedRng {
        KeyedRng::new(Seed(1), Purpose::named("test.tune"), 0, 0)
    }

    #[test]
    fn a_draw_takes_each_level_equally_often_and_leaves_fixed_knobs_alone() {
        let space = space(&[4, 5, 2]);

        let drawn = space.draw(&space.present(), &[0, 1], 20, &mut rng());

        assert!(drawn.iter().all(|candidate| candidate.0[2] == 0));
        assert!(drawn.len() > 12, "{}", drawn.len());
        let of = |level| drawn.iter().filter(|c| c.0[0] == level).count();
        assert!((0..4).all(|level| (2..=5).contains(&of(level))));
    }

    #[test]
    fn neighbours_are_one_step_away_and_names_have_no_order() {
        let mut space = space(&[3, 3]);
        space.knobs[1].ordered = false;

        let near = space.neighbours(&Candidate(vec![0, 0]), &[0, 1]);

        let expected = [[1, 0], [0, 1], [0, 2]].map(|levels| Candidate(levels.to_vec()));
        assert_eq!(near, expected);
    }

    #[test]
    fn the_present_settings_change_nothing() {
        let space = space(&[3, 3]);

        assert!(space.changes(&space.present()).is_empty());
        let changed = space.changes(&Candidate(vec![0, 2]));
        assert_eq!(changed, [("k1".to_owned(), "2".to_owned())]);
        assert_eq!(space.size(), Some(9));
    }

    #[test]
    fn knobs_of_a_bundle_are_written_together_or_not_at_all() {
        let mut space = space(&[3, 3, 3]);
        space.knobs[0].bundle = Some(0);
        space.knobs[1].bundle = Some(0);
        let changed = |levels: [u16; 3]| {
            let changes = space.changes(&Candidate(levels.to_vec()));
            let changes = changes
                .iter()
                .map(|(path, value)| format!("{path}={value}"));
            changes.collect::<Vec<_>>().join(" ")
        };

        assert_eq!(changed([2, 0, 0]), "k0=2 k1=0");
        assert_eq!(changed([0, 0, 1]), "k2=1");
        assert_eq!(space.distance(&Candidate(vec![2, 0, 0])), 1);
    }
}
