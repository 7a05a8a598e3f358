//! How much load the present size carries.

use reports::{Headroom, Outage};
use sim::capacity::{Reached, Verdict, smallest, worst};

use super::{
    field::{Care, Field, PROOFS, Point},
    lines::steps,
};
use crate::{complaint::Complaint, progress::note};

/// The largest load that the present size carries; `None` if interrupted.
pub(super) fn headroom(field: &mut Field, out: Outage) -> Result<Option<Headroom>, Complaint> {
    note(&format!(
        "headroom of the present size with {}",
        out.words()
    ));
    let sizes = field.present.clone();
    let carries = |field: &mut Field, step: u32, is_proof: bool| {
        let point = Point::new(f64::from(step) / STEPS, out, &sizes, is_proof);
        let care = match is_proof {
            true => Care::Proof,
            false => Care::Search(steps(LAST_STEP)),
        };
        let verdicts = field.verdicts(&point, care)?;
        Ok::<_, Complaint>(verdicts.map(|verdicts| worst(verdicts) == Verdict::Meets))
    };
    let first_not = smallest(0, FIRST_STEP, LAST_STEP, |step| {
        Ok::<_, Complaint>(carries(field, step, false)?.map(|does| !does))
    })?;
    let (last, is_at_least) = match first_not {
        None => return Ok(None),
        Some(Reached::At(step)) => (step - 1, false),
        Some(Reached::NoneUpTo(step)) => (step, true),
    };
    let mut headroom = Headroom {
        out,
        load: None,
        is_at_least,
    };
    for step in (0..=last)
        .rev()
        .take(PROOFS as usize)
        .filter(|&step| step > 0)
    {
        match carries(field, step, true)? {
            None => return Ok(None),
            Some(true) => {
                headroom.load = Some(f64::from(step) / STEPS);
                break;
            }
            Some(false) => headroom.is_at_least = false,
        }
    }
    Ok(Some(headroom))
}

/// Steps of the load in one of today's.
const STEPS: f64 = 20.0;
/// The first load that is tried: just above today's.
const FIRST_STEP: u32 = 21;
/// The largest: ten of today's.
const LAST_STEP: u32 = 200;
