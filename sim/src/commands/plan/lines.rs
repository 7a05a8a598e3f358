//! The search for sizes, line by line.

use reports::{CapacityLine, Outage, SizeFound, stats};
use sim::capacity::{Reached, Verdict, lowered, smallest, worst};

use super::{
    below::below,
    field::{Care, Field, PROOFS, Point},
    loads::Load,
    measured::measures,
};
use crate::{complaint::Complaint, progress::note};

/// What each load needs with each of these out; `None` if interrupted.
///
/// More load or more out is taken not to need less, so every search begins at what was needed before.
pub(super) fn lines(
    field: &mut Field,
    loads: &[Load],
    outages: &[Outage],
) -> Result<Option<Vec<CapacityLine>>, Complaint> {
    let mut lines: Vec<CapacityLine> = Vec::new();
    for (load, when) in loads {
        for &out in outages {
            let floor = |group: usize| {
                let known = lines
                    .iter()
                    .filter(|line| line.out <= out && line.load <= *load);
                known
                    .filter_map(|line| line.sizes.get(group))
                    .max()
                    .copied()
            };
            let floors: Vec<u32> = (0..field.groups.len())
                .map(|group| floor(group).unwrap_or(1))
                .collect();
            note(&format!(
                "sizing for {load} times the load with {}",
                out.words()
            ));
            let Some(mut line) = line(field, *load, out, &floors)? else {
                return Ok(None);
            };
            line.when.clone_from(when);
            lines.push(line);
        }
    }
    Ok(Some(lines))
}

fn line(
    field: &mut Field,
    load: f64,
    out: Outage,
    floors: &[u32],
) -> Result<Option<CapacityLine>, Complaint> {
    let line = CapacityLine {
        load,
        out,
        ..CapacityLine::default()
    };
    let Some((found, sizes)) = found(field, load, out, floors)? else {
        return Ok(None);
    };
    let (is_proof, measured) = match found {
        SizeFound::None => (false, vec![field.most; field.groups.len()]),
        SizeFound::Shown | SizeFound::NotShown => (true, sizes.clone()),
    };
    let point = Point::new(load, out, &measured, is_proof);
    let tried = field.tried(&point);
    let replications = tried.cases.iter().map(|case| case.runs.len()).min();
    let costs: Option<Vec<(f64, f64)>> = (tried.cases.first())
        .map(|case| case.runs.iter().map(super::seen::Seen::costs).collect())
        .unwrap_or_default();
    let costs = costs.filter(|costs| !costs.is_empty());
    let mean = |of: fn(&(f64, f64)) -> f64| {
        costs
            .as_ref()
            .map(|costs| stats::mean(&costs.iter().map(of).collect::<Vec<_>>()))
    };
    let (per_1000, per_hour) = (mean(|cost| cost.0), mean(|cost| cost.1));
    let measures = measures(field, &point);
    let below = match found {
        SizeFound::Shown => match below(field, load, out, &sizes)? {
            None => return Ok(None),
            Some(below) => below,
        },
        SizeFound::NotShown | SizeFound::None => None,
    };
    Ok(Some(CapacityLine {
        found,
        sizes,
        measures,
        replications: u32::try_from(replications.unwrap_or(0)).unwrap_or(u32::MAX),
        cost_usd_per_1000_requests: per_1000,
        cost_usd_per_hour: per_hour,
        below,
        ..line
    }))
}

/// The sizes of a line, and whether fresh seeds show that they do.
fn found(
    field: &mut Field,
    load: f64,
    out: Outage,
    floors: &[u32],
) -> Result<Option<(SizeFound, Vec<u32>)>, Complaint> {
    let care = Care::Search(steps(field.most));
    let present = field.present.clone();
    // Groups that do not do are doubled until all do.
    let mut sizes: Vec<u32> = match floors.iter().all(|&floor| floor == 1) {
        true => present,
        false => floors.to_vec(),
    };
    let mut fails: Vec<u32> = floors.iter().map(|floor| floor - 1).collect();
    loop {
        let point = Point::new(load, out, &sizes, false);
        let Some(verdicts) = field.verdicts(&point, care)? else {
            return Ok(None);
        };
        if worst(verdicts.iter().copied()) == Verdict::Meets {
            break;
        }
        for (group, _) in verdicts
            .iter()
            .enumerate()
            .filter(|(_, one)| **one != Verdict::Meets)
        {
            if sizes[group] == field.most {
                return Ok(Some((SizeFound::None, Vec::new())));
            }
            fails[group] = sizes[group];
            sizes[group] = sizes[group].saturating_mul(2).min(field.most);
        }
    }
    // Then one group after the other is made as small as it may be.
    for group in 0..sizes.len() {
        let enough = sizes[group];
        let reached = smallest(fails[group], enough, enough, |size| {
            let mut sizes = sizes.clone();
            sizes[group] = size;
            let verdicts = field.verdicts(&Point::new(load, out, &sizes, false), care)?;
            Ok::<_, Complaint>(verdicts.map(|verdicts| worst(verdicts) == Verdict::Meets))
        })?;
        match reached {
            None => return Ok(None),
            Some(Reached::At(size) | Reached::NoneUpTo(size)) => sizes[group] = size,
        }
    }
    if sizes.len() > 1 {
        let found = lowered(sizes, |sizes| {
            let verdicts = field.verdicts(&Point::new(load, out, sizes, false), care)?;
            Ok::<_, Complaint>(verdicts.map(|verdicts| worst(verdicts) == Verdict::Meets))
        })?;
        let Some(found) = found else {
            return Ok(None);
        };
        sizes = found;
    }
    for attempt in 1..=PROOFS {
        let point = Point::new(load, out, &sizes, true);
        let Some(verdicts) = field.verdicts(&point, Care::Proof)? else {
            return Ok(None);
        };
        if worst(verdicts.iter().copied()) == Verdict::Meets {
            return Ok(Some((SizeFound::Shown, sizes)));
        }
        let open = verdicts.iter().map(|verdict| *verdict != Verdict::Meets);
        let larger: Vec<u32> = sizes
            .iter()
            .zip(open)
            .map(|(size, open)| (size + u32::from(open)).min(field.most))
            .collect();
        if attempt == PROOFS || larger == sizes {
            break;
        }
        sizes = larger;
    }
    Ok(Some((SizeFound::NotShown, sizes)))
}

/// Verdicts that a search over as many sizes can ask for: doubling, halving, and the last look below.
pub(super) fn steps(most: u32) -> u32 {
    2 * (u32::BITS - most.leading_zeros()) + 1
}
