//! One run, recorded for each model that is asked for: a group may starve while the whole looks well.

use reports::{Recorder, RecorderSetup, RunRecord};
use router::{Event, Instant, Observer};
use scenarios::RunPlan;

use crate::{SimError, Watch, record_run, recorder_setup, simulate_watched};

/// Runs a plan and gives a record for each place in `groups`, which says of each of the workload's
/// models into which record its requests go.
///
/// # Errors
///
/// As [`simulate_watched`].
pub fn record_groups(
    plan: &RunPlan,
    groups: &[usize],
    watch: &impl Watch,
) -> Result<Vec<RunRecord>, SimError> {
    let count = groups.iter().max().map_or(1, |last| last + 1);
    if count == 1 {
        return Ok(vec![record_run(plan, watch)?]);
    }
    let arrivals = plan.workload.arrivals(plan.seed);
    let of = arrivals.map(|arrival| groups[usize::from(arrival.model)]);
    let setup = recorder_setup(plan)?;
    let mut observer = ByGroup::new(of.collect(), count, &setup);
    let run_end = simulate_watched(plan, &mut observer, watch)?;
    let finished = observer.recorders.into_iter().map(|recorder| RunRecord {
        arm: plan.arm,
        replication: plan.replication,
        ..recorder.finish(run_end.end)
    });
    Ok(finished.collect())
}

/// A recorder for each group. What is about no request, and every cooldown, is told to all; mirrors
/// are told to none.
struct ByGroup {
    of: Vec<usize>,
    recorders: Vec<Recorder>,
}

impl ByGroup {
    fn new(of: Vec<usize>, count: usize, setup: &RecorderSetup) -> Self {
        Self {
            of,
            recorders: (0..count).map(|_| Recorder::new(setup.clone())).collect(),
        }
    }
}

impl Observer for ByGroup {
    const LAST_LOOK: bool = true;

    fn observe(&mut self, at: Instant, event: &Event<'_>) {
        let request = event.request();
        if request.is_some_and(router::RequestId::is_mirror) {
            return;
        }
        let is_cooldown = matches!(event, Event::CooledDown { .. });
        let number = request.and_then(|request| usize::try_from(request.0).ok());
        match number.and_then(|number| self.of.get(number)) {
            Some(&group) if !is_cooldown => self.recorders[group].observe(at, event),
            _ => {
                for recorder in &mut self.recorders {
                    recorder.observe(at, event);
                }
            }
        }
    }
}
