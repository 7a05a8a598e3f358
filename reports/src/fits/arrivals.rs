//! How requests come: a rate that may change, and how irregular they are once that change is taken out.
//!
//! The rate is a curve of steps, each long enough for [`LEAST_EACH`] requests on average. Gaps are then
//! counted in expected requests (a change of time by the integrated rate), and their coefficient of
//! variation is that of the renewal process: 1 for Poisson. Silences that the process cannot explain are
//! holes in the log and count as no time at all.

use router::{KeyedRng, Purpose, Seed};
use serde::Serialize;

use super::{Fitted, gamma::cdf_of_mean_one};
use crate::stats::{normal_quantile, size};

/// A hole in a log: nothing was recorded, which is not the same as nobody having asked.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Silence {
    /// Where it begins, in seconds.
    pub from_s: f64,
    /// Where it ends.
    pub to_s: f64,
}

/// A rate in steps.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Curve {
    /// How long each step is, in seconds.
    pub step_s: f64,
    /// Requests a second in each; where the log has a hole, that of the steps beside it.
    pub per_second: Vec<f64>,
    /// Share of each step that the log covers.
    pub covered: Vec<f64>,
}

/// How requests come.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ArrivalFit {
    /// Requests.
    pub n: usize,
    /// Requests a second over the time that the log covers.
    pub per_second: Fitted,
    /// Deviation ÷ mean of the gaps, the rate's changes taken out.
    pub cv: Fitted,
    /// Whether the gaps are as irregular as independent arrivals: the interval of `cv` holds 1.
    pub is_poisson: bool,
    /// The rate's changes, if they are more than chance.
    pub curve: Option<Curve>,
    /// Variance ÷ mean of the requests in windows of `WINDOW_S`, rate changes taken out.
    pub dispersion: f64,
    /// What a renewal process of this `cv` gives for it: cv².
    pub dispersion_of_fit: f64,
    /// Time that the log covers, in seconds.
    pub covered_s: f64,
}

/// Silences that are too long for the traffic around them: with the rate of the 50 gaps before or after
/// it, whichever is less, and gaps as irregular as those of the log, so long a one has a chance below one
/// in a million in the whole log. Times rise.
#[must_use]
pub fn silences(times_s: &[f64]) -> Vec<Silence> {
    let n = times_s.len();
    if n < LEAST_FOR_HOLES {
        return Vec::new();
    }
    let gaps: Vec<f64> = times_s.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let irregular = local_irregularity(&gaps);
    let unlikely = (libm::log(size(n)) + 14.0) * irregular;
    let mean = |of: &[f64]| of.iter().sum::<f64>() / size(of.len().max(1));
    let is_hole = |at: &usize| {
        let before = &gaps[at.saturating_sub(AROUND)..*at];
        let after = &gaps[at + 1..(at + 1 + AROUND).min(gaps.len())];
        let usual = match (before.len() >= AROUND / 2, after.len() >= AROUND / 2) {
            (true, true) => mean(before).max(mean(after)),
            (true, false) => mean(before),
            (false, _) => mean(after),
        };
        gaps[*at] > unlikely * usual
    };
    let holes = (0..gaps.len()).filter(is_hole);
    let span = |at: usize| Silence {
        from_s: times_s[at],
        to_s: times_s[at + 1],
    };
    holes.map(span).collect()
}

/// The squared variation of gaps within stretches of 50, by the median stretch; 1 at least.
fn local_irregularity(gaps: &[f64]) -> f64 {
    let stretch = |of: &[f64]| {
        let mean = of.iter().sum::<f64>() / size(of.len());
        crate::stats::variance(of) / (mean * mean)
    };
    let mut all: Vec<f64> = gaps.chunks_exact(AROUND).map(stretch).collect();
    all.retain(|v| v.is_finite());
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or(1.0).max(1.0)
}

impl ArrivalFit {
    /// Fits requests that came at these times between `from_s` and `to_s`; `None` with fewer than
    /// `FEWEST`. Times rise.
    #[must_use]
    pub fn of(times_s: &[f64], from_s: f64, to_s: f64, holes: &[Silence]) -> Option<Self> {
        let n = times_s.len();
        let hole_s: f64 = holes.iter().map(|hole| hole.to_s - hole.from_s).sum();
        let covered_s = to_s - from_s - hole_s;
        if n < FEWEST || covered_s <= 0.0 {
            return None;
        }
        let mean = size(n) / covered_s;
        let flat = Curve::of(times_s, (from_s, to_s), holes, to_s - from_s);
        let (flat_gaps, flat_bridged) = flat.gaps(times_s, from_s, holes);
        let flat_cv = variation(&flat_gaps);
        let curve = step_for(mean, to_s - from_s)
            .map(|step| Curve::of(times_s, (from_s, to_s), holes, step))
            .filter(|curve| curve.moves(n, flat_cv.value));
        let (gaps, bridged) = match &curve {
            Some(curve) => curve.gaps(times_s, from_s, holes),
            None => (flat_gaps, flat_bridged),
        };
        debug_assert_eq!(gaps.len() + bridged, n - 1, "every gap is counted once");
        let cv = match &curve {
            Some(curve) => unbent(variation(&gaps), n, curve.per_second.len()),
            None => variation(&gaps),
        };
        let of_curve = curve.as_ref().unwrap_or(&flat);
        let reach = Z_95 * cv.value / size(n).sqrt();
        Some(Self {
            n,
            per_second: Fitted::within(mean, (mean * libm::exp(-reach), mean * libm::exp(reach))),
            is_poisson: cv.holds(1.0),
            dispersion: of_curve.dispersion(times_s, (from_s, to_s), holes),
            dispersion_of_fit: cv.value * cv.value,
            cv,
            curve,
            covered_s,
        })
    }

    /// Where in the fitted distribution of gaps each gap lies, from 0 to 1: evenly spread if the fit
    /// holds. The rate is that of these times themselves. Where the fit says that nearly all gaps are as
    /// long, give or take `ALIKE`, the place among them is drawn.
    #[must_use]
    pub fn gap_shares(
        &self,
        times_s: &[f64],
        from_s: f64,
        to_s: f64,
        holes: &[Silence],
    ) -> Vec<f64> {
        let mean = size(times_s.len()) / (to_s - from_s);
        let step = self
            .curve
            .as_ref()
            .and_then(|_| step_for(mean, to_s - from_s));
        let step = step.unwrap_or(to_s - from_s);
        let curve = Curve::of(times_s, (from_s, to_s), holes, step);
        let (gaps, _) = curve.gaps(times_s, from_s, holes);
        let mean = gaps.iter().sum::<f64>() / size(gaps.len().max(1));
        let shape = self.shape();
        let within = |gap: f64| cdf_of_mean_one(shape, gap / mean);
        (0..)
            .zip(&gaps)
            .map(|(number, gap)| {
                let (below, above) = (within(gap * (1.0 - ALIKE)), within(gap * (1.0 + ALIKE)));
                match above - below > NEARLY_ALL {
                    true => below + KeyedRng::new(SEED, AMONG, number, 0).unit() * (above - below),
                    false => within(*gap),
                }
            })
            .collect()
    }

    /// The gap that the share `q` of the fitted ones lies at or below, in mean gaps; found by halving.
    #[must_use]
    pub fn gap_quantile(&self, q: f64) -> f64 {
        let shape = self.shape();
        let (mut low, mut high) = (-40.0, 10.0);
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if cdf_of_mean_one(shape, libm::exp(middle)) < q {
                low = middle;
            } else {
                high = middle;
            }
        }
        libm::exp(f64::midpoint(low, high))
    }

    /// Of the gamma distribution of gaps.
    fn shape(&self) -> f64 {
        let cv = match self.is_poisson {
            true => 1.0,
            false => self.cv.value.max(NARROWEST_CV),
        };
        1.0 / (cv * cv)
    }
}

impl Curve {
    /// The mean rate of each step.
    fn of(times_s: &[f64], (from_s, to_s): (f64, f64), holes: &[Silence], step_s: f64) -> Self {
        let steps = count((to_s - from_s) / step_s);
        let mut counts = vec![0.0; steps];
        for time in times_s {
            counts[count_floor((time - from_s) / step_s).min(steps - 1)] += 1.0;
        }
        let covered: Vec<f64> = (0..steps)
            .map(|at| {
                let begin = from_s + size(at) * step_s;
                let end = (begin + step_s).min(to_s);
                let within =
                    |hole: &Silence| (hole.to_s.min(end) - hole.from_s.max(begin)).max(0.0);
                let missing: f64 = holes.iter().map(within).sum();
                ((end - begin - missing) / step_s).max(0.0)
            })
            .collect();
        let rate = |at: usize| counts[at] / (covered[at] * step_s);
        let known = |at: &usize| covered[*at] >= LEAST_COVERED;
        let per_second = (0..steps)
            .map(|at| match known(&at) {
                true => rate(at),
                false => {
                    let before = (0..at).rev().find(known).map(rate);
                    let after = (at + 1..steps).find(known).map(rate);
                    match (before, after) {
                        (Some(before), Some(after)) => f64::midpoint(before, after),
                        (one, other) => one.or(other).unwrap_or(0.0),
                    }
                }
            })
            .collect();
        Self {
            step_s,
            per_second,
            covered,
        }
    }

    /// Gaps in expected requests, but those over holes, and how many those were.
    fn gaps(&self, times_s: &[f64], from_s: f64, holes: &[Silence]) -> (Vec<f64>, usize) {
        let mut sums = vec![0.0];
        for rate in &self.per_second {
            sums.push(sums[sums.len() - 1] + rate * self.step_s);
        }
        let expected = |time: f64| {
            let at = count_floor((time - from_s) / self.step_s).min(self.per_second.len() - 1);
            sums[at] + (time - from_s - size(at) * self.step_s) * self.per_second[at]
        };
        let mut holes = holes.iter().peekable();
        let mut gaps = Vec::with_capacity(times_s.len());
        let mut bridged = 0;
        for pair in times_s.windows(2) {
            while holes.next_if(|hole| hole.to_s <= pair[0]).is_some() {}
            match holes.peek() {
                Some(hole) if hole.from_s < pair[1] => bridged += 1,
                _ => gaps.push(expected(pair[1]) - expected(pair[0])),
            }
        }
        (gaps, bridged)
    }

    /// Whether the steps differ by more than chance: Σ (count − expected)² ÷ expected over what gaps of
    /// this variation give for it, beyond its 99.9 % point (Wilson and Hilferty's approximation).
    fn moves(&self, n: usize, flat_cv: f64) -> bool {
        let full = self.per_second.iter().zip(&self.covered);
        let full: Vec<f64> = full
            .filter(|(_, covered)| **covered >= LEAST_COVERED)
            .map(|(rate, covered)| rate * covered * self.step_s)
            .collect();
        if full.len() < 2 || n < 2 * FEWEST {
            return false;
        }
        let mean = full.iter().sum::<f64>() / size(full.len());
        let excess: f64 = full.iter().map(|c| (c - mean) * (c - mean) / mean).sum();
        let degrees = size(full.len() - 1);
        let spread = (2.0 / (9.0 * degrees)).sqrt();
        let root = 1.0 - 2.0 / (9.0 * degrees) + normal_quantile(0.999) * spread;
        excess / (flat_cv * flat_cv).max(1e-4) > degrees * root * root * root
    }

    /// Σ (count − expected)² ÷ Σ expected over whole windows.
    fn dispersion(&self, times_s: &[f64], (from_s, to_s): (f64, f64), holes: &[Silence]) -> f64 {
        let windows = count_floor((to_s - from_s) / WINDOW_S);
        let mut counts = vec![0.0; windows];
        for time in times_s {
            if let Some(count) = counts.get_mut(count_floor((time - from_s) / WINDOW_S)) {
                *count += 1.0;
            }
        }
        let (mut above, mut below) = (0.0, 0.0);
        for (at, count) in counts.iter().enumerate() {
            let begin = from_s + size(at) * WINDOW_S;
            let end = begin + WINDOW_S;
            if holes
                .iter()
                .any(|hole| hole.from_s < end && hole.to_s > begin)
            {
                continue;
            }
            let middle = (begin + WINDOW_S / 2.0 - from_s) / self.step_s;
            let rate = self.per_second[count_floor(middle).min(self.per_second.len() - 1)];
            let expected = rate * WINDOW_S;
            above += (count - expected) * (count - expected);
            below += expected;
        }
        if below > 0.0 { above / below } else { f64::NAN }
    }
}

/// The variation of gaps that were counted in a rate of so many steps, each of which was taken from the gaps in it
/// and so takes out some of their variation: of N gaps of a gamma process divided by their own mean, cv² is
/// smaller by the factor 1 − (1 + cv²) ÷ N.
fn unbent(cv: Fitted, n: usize, steps: usize) -> Fitted {
    let lost = (1.0 + cv.value * cv.value) * size(steps) / size(n);
    let factor = 1.0 / (1.0 - lost.min(0.5)).sqrt();
    Fitted {
        value: cv.value * factor,
        low: cv.low.map(|low| low * factor),
        high: cv.high.map(|high| high * factor),
    }
}

/// Deviation ÷ mean with its interval by the jackknife over twenty blocks: gaps need not be independent
/// for it.
fn variation(gaps: &[f64]) -> Fitted {
    let of = |skip: Option<(usize, usize)>| {
        let kept = gaps
            .iter()
            .enumerate()
            .filter(|(at, _)| skip.is_none_or(|(from, to)| *at < from || *at >= to));
        let (mut n, mut sum, mut squares) = (0.0, 0.0, 0.0);
        for (_, gap) in kept {
            n += 1.0;
            sum += gap;
            squares += gap * gap;
        }
        let mean: f64 = sum / n;
        ((squares / n - mean * mean).max(0.0)).sqrt() / mean
    };
    let whole = of(None);
    let block = gaps.len() / BLOCKS;
    if block < 2 || whole <= 0.0 {
        return Fitted::bare(whole);
    }
    let without = |at: usize| libm::log(of(Some((at * block, (at + 1) * block))).max(1e-9));
    let logs: Vec<f64> = (0..BLOCKS).map(without).collect();
    let blocks = size(BLOCKS);
    let mean = logs.iter().sum::<f64>() / blocks;
    let squares: f64 = logs.iter().map(|l| (l - mean) * (l - mean)).sum();
    let error = ((blocks - 1.0) / blocks * squares).sqrt();
    let reach = crate::stats::student_t_quantile(0.975, blocks - 1.0) * error;
    Fitted::within(whole, (whole * libm::exp(-reach), whole * libm::exp(reach)))
}

/// The shortest of the usual steps that holds enough requests and divides the span into two or more.
fn step_for(per_second: f64, span_s: f64) -> Option<f64> {
    let fits = |step: &f64| step * per_second >= LEAST_EACH && *step * 2.0 <= span_s;
    STEPS_S.into_iter().find(fits)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a number of steps of a log; the cast saturates"
)]
fn count(steps: f64) -> usize {
    (steps.ceil() as usize).max(1)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a place in a log; the cast saturates"
)]
fn count_floor(place: f64) -> usize {
    place.max(0.0) as usize
}

/// Fewer requests tell no rate worth writing down.
pub(crate) const FEWEST: usize = 30;
/// Requests of a step on average: its rate is then known within a fifth.
const LEAST_EACH: f64 = 100.0;
const STEPS_S: [f64; 7] = [60.0, 300.0, 600.0, 900.0, 1_800.0, 3_600.0, 21_600.0];
/// A step of which the log covers less has no rate of its own.
const LEAST_COVERED: f64 = 0.5;
/// Windows of the dispersion, in seconds.
pub(crate) const WINDOW_S: f64 = 60.0;
const AROUND: usize = 50;
const LEAST_FOR_HOLES: usize = 100;
const BLOCKS: usize = 20;
/// No gaps are fitted more regular: those of the scenario are a gamma process.
const NARROWEST_CV: f64 = 0.01;
/// Gaps that differ by less are as good as the same: three times the narrowest deviation.
const ALIKE: f64 = 0.03;
const NEARLY_ALL: f64 = 0.9;
const SEED: Seed = Seed(1);
const AMONG: Purpose = Purpose::named("reports.fits.among_alike");
const Z_95: f64 = 1.959_963_984_540_054;
