//! The report of a plan: the present size, one less and the size that is needed, under the hardest line,
//! on the same luck.

use reports::{CapacityRecord, RunRecord, SweepRecord};

use super::{
    super::{
        compare::{Side, side_by_side},
        quoted,
    },
    field::{Field, Point},
};
use crate::{cli::PlanArgs, complaint::Complaint};

/// The runs as arms of a sweep; `None` if interrupted.
pub(super) fn sweep(
    args: &PlanArgs,
    field: &Field,
    record: &CapacityRecord,
) -> Result<Option<SweepRecord>, Complaint> {
    let Some(line) = record.hardest() else {
        return Ok(None);
    };
    let needed = match line.sizes.is_empty() {
        true => vec![field.most; field.groups.len()],
        false => line.sizes.clone(),
    };
    let mut sizes = vec![("present size", field.present.clone())];
    if let Some(below) = &line.below {
        let mut less = needed.clone();
        less[below.group] = below.size;
        sizes.push(("one less", less));
    }
    sizes.push(("needed", needed));
    sizes.dedup_by(|a, b| a.1 == b.1);
    let out = line.below.as_ref().map(|below| below.measure.out.clone());
    let out = out.or_else(|| line.measures.first().map(|measure| measure.out.clone()));
    let mut sides = Vec::new();
    let mut runs: Vec<RunRecord> = Vec::new();
    for (arm, (what, sizes)) in sizes.iter().enumerate() {
        let point = Point::new(line.load, line.out, sizes, true);
        let tried = field.cases(&point);
        let cases = tried.cases.iter();
        let case = cases.clone().find(|case| Some(&case.name) == out.as_ref());
        let Some(case) = case.or_else(|| tried.cases.first()) else {
            return Ok(None);
        };
        let Some(records) = field.records(case, REPLICATIONS)? else {
            return Ok(None);
        };
        runs.extend(records.into_iter().map(|run| RunRecord { arm, ..run }));
        let sizes: Vec<String> = sizes
            .iter()
            .map(|size| field.unit.show_whole(*size))
            .collect();
        sides.push(Side {
            label: format!("{what}: {}", sizes.join(" and ")),
            scenario: field.site().proof.clone(),
        });
    }
    let sweep = side_by_side("size", &sides, runs, typed(args), false);
    let mut notes = vec![format!(
        "The runs below are of {} times the scenario's load with {} ({}), the first {REPLICATIONS} replications on \
         fresh seeds.",
        line.load,
        line.out.words(),
        out.filter(|out| !out.is_empty())
            .unwrap_or_else(|| "nothing".to_owned()),
    )];
    notes.extend(sweep.notes);
    Ok(Some(SweepRecord {
        answer: reports::capacity_finding(record),
        capacity: Some(record.clone()),
        replications: REPLICATIONS,
        notes,
        ..sweep
    }))
}

fn typed(args: &PlanArgs) -> String {
    let mut command = format!(
        "routelab plan {} --slo {}",
        args.scenario.typed(),
        quoted(&args.slo)
    );
    match (&args.growth, args.periods) {
        (Some(growth), Some(periods)) => {
            command += &format!(" --growth {} --for {periods}", quoted(growth));
        }
        _ => command += &format!(" --load {}", quoted(&args.load)),
    }
    let value = |value: &dyn Fn() -> Option<String>| value().unwrap_or_default();
    let size = value(&|| {
        Some(
            clap::ValueEnum::to_possible_value(&args.size)?
                .get_name()
                .to_owned(),
        )
    });
    let out = args
        .outage
        .iter()
        .filter_map(clap::ValueEnum::to_possible_value);
    let out: Vec<String> = out.map(|out| out.get_name().to_owned()).collect();
    command += &format!(
        " --size {size} --outage {} --confidence {} --max-reps {}",
        out.join(","),
        args.confidence,
        args.max_reps
    );
    for scenario in &args.also {
        command += &format!(" --also {}", quoted(scenario));
    }
    if let Some(most) = args.most {
        command += &format!(" --most {most}");
    }
    command
}

/// Replications in the report.
const REPLICATIONS: u32 = 10;
