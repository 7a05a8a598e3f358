//! `routelab sweep`: a scenario over axes that are given on the command line.

use super::{Ended, quoted, run};
use crate::{cli::SweepArgs, complaint::Complaint};

pub(super) fn sweep(args: &SweepArgs) -> Result<Ended, Complaint> {
    let mut changed = args.scenario.clone();
    changed.sets = sets(args);
    if args.only {
        // The block that is dropped may hold them.
        let scenario = args.scenario.load()?;
        changed.reps = scenario
            .replications_given()
            .then(|| scenario.replications());
    }
    let scenario = changed.load()?;
    let mut command = format!("routelab sweep {}", args.scenario.typed());
    for (name, values) in &args.axes {
        command += &format!(" --axis {}", quoted(&format!("{name}={values}")));
    }
    if args.only {
        command += " --only";
    }
    command += run::typed_hindsight(args.hindsight);
    run::run_scenario(&scenario, command, args.hindsight, &args.output)
}

/// The axes as changes of the scenario's `sweep` block, before the changes that the user asked for.
fn sets(args: &SweepArgs) -> Vec<(String, String)> {
    let mut sets = if args.only {
        without_axes()
    } else {
        Vec::new()
    };
    for (name, values) in &args.axes {
        sets.push((
            format!("sweep.{}", path_segment(name)),
            format!("[{values}]"),
        ));
    }
    sets.extend(args.scenario.sets.iter().cloned());
    sets
}

/// The changes that drop a scenario's own axes, and what would name axes that are gone.
pub(super) fn without_axes() -> Vec<(String, String)> {
    let change = |path: &str, value: &str| (path.to_owned(), value.to_owned());
    vec![
        change("sweep", "{}"),
        change("reference", "null"),
        change("expect", "[]"),
    ]
}

/// A key of a path: in quotes if it could be taken for several.
fn path_segment(name: &str) -> String {
    if name.contains(['.', '[', ']', '"', ' ']) {
        format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
    } else {
        name.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_that_is_a_path_is_one_key_of_the_sweep() {
        assert_eq!(path_segment("cooldown_time"), "cooldown_time");
        assert_eq!(
            path_segment("workload.arrivals.poisson"),
            "\"workload.arrivals.poisson\""
        );
        assert_eq!(
            path_segment("model_group_alias.\"a\""),
            r#""model_group_alias.\"a\"""#
        );
    }
}
