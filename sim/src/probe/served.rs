//! How many requests are answered well, by windows of their arrival.

use router::{Answer, Event, Instant, Observer, RequestId};
use scenarios::{RunPlan, Slo};

use crate::{SimError, Watch, simulate_watched};

/// Requests by the window in which they arrived.
#[derive(Clone, PartialEq, Debug)]
pub struct Served {
    /// Length of a window.
    pub width_s: f64,
    /// Arrived and answered well, window by window.
    pub windows: Vec<(u32, u32)>,
}

impl Served {
    /// The share that is answered well of what arrives from `from_s` up to `to_s`, in whole windows;
    /// `None` if nothing arrives.
    #[must_use]
    pub fn share(&self, from_s: f64, to_s: f64) -> Option<f64> {
        let inside = |at: usize| {
            let begin = reports::stats::size(at) * self.width_s;
            begin >= from_s - 1e-9 && begin + self.width_s <= to_s + 1e-9
        };
        let windows = self.windows.iter().enumerate();
        let (arrived, good) = windows
            .filter(|(at, _)| inside(*at))
            .fold((0, 0), |(arrived, good), (_, window)| {
                (arrived + window.0, good + window.1)
            });
        share(arrived, good)
    }

    /// The share of each window.
    pub fn shares(&self) -> impl Iterator<Item = Option<f64>> {
        self.windows
            .iter()
            .map(|&(arrived, good)| share(arrived, good))
    }
}

fn share(arrived: u32, good: u32) -> Option<f64> {
    (arrived > 0).then(|| f64::from(good) / f64::from(arrived))
}

/// Runs a plan and counts by windows of this length.
///
/// # Errors
///
/// As [`simulate_watched`].
pub fn record_served(plan: &RunPlan, width_s: f64, watch: &impl Watch) -> Result<Served, SimError> {
    let mut observer = ByArrival {
        slo: plan.slo,
        served: Served {
            width_s,
            windows: Vec::new(),
        },
    };
    simulate_watched(plan, &mut observer, watch)?;
    Ok(observer.served)
}

struct ByArrival {
    slo: Slo,
    served: Served,
}

impl ByArrival {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a time of the run, never negative"
    )]
    fn window(&mut self, arrived: Instant) -> &mut (u32, u32) {
        let at = (arrived.as_secs_f64() / self.served.width_s) as usize;
        let windows = &mut self.served.windows;
        if windows.len() <= at {
            windows.resize(at + 1, (0, 0));
        }
        &mut windows[at]
    }
}

impl Observer for ByArrival {
    fn observe(&mut self, at: Instant, event: &Event<'_>) {
        if event.request().is_some_and(RequestId::is_mirror) {
            return;
        }
        if let Event::Arrived { .. } = event {
            self.window(at).0 += 1;
        } else if let Event::Answered {
            answer: Answer::Completed { trail, .. },
            ..
        } = event
        {
            let begun = trail.first_token.map(|first| first.since(trail.arrived));
            let in_time = self
                .slo
                .latency
                .is_none_or(|bound| at.since(trail.arrived) <= bound);
            let in_time = in_time
                && (self.slo.first_token)
                    .is_none_or(|bound| begun.is_some_and(|begun| begun <= bound));
            self.window(trail.arrived).1 += u32::from(in_time);
        }
    }
}
