//! `routelab sweep`: a scenario over axes that are given on the command line.

use super::{Ended, quoted, run};
use crate::{
    cli::{ScenarioArgs, SweepArgs},
    complaint::Complaint,
};

pub(super) fn sweep(args: &SweepArgs) -> Result<Ended, Complaint> {
    let scenario = ScenarioArgs {
        sets: sets(args)?,
        ..args.scenario.clone()
    }
    .load()?;
    let mut command = format!("routelab sweep {}", args.scenario.typed());
    for (name, values) in &args.axes {
        command += &format!(" --axis {}", quoted(&format!("{name}={values}")));
    }
    if args.only {
        command += " --only";
    }
    run::run_scenario(&scenario, command, &args.output)
}

/// The axes as changes of the scenario's `sweep` block, before the changes that the user asked for.
fn sets(args: &SweepArgs) -> Result<Vec<(String, String)>, Complaint> {
    let mut sets = Vec::new();
    if args.only {
        let replications = args.scenario.load()?.replications();
        sets.push((
            "sweep".to_owned(),
            format!("{{replications: {replications}}}"),
        ));
        // The scenario's own would name axes that are gone.
        sets.push(("reference".to_owned(), "null".to_owned()));
        sets.push(("expect".to_owned(), "[]".to_owned()));
    }
    for (name, values) in &args.axes {
        sets.push((
            format!("sweep.{}", path_segment(name)),
            format!("[{values}]"),
        ));
    }
    sets.extend(args.scenario.sets.iter().cloned());
    Ok(sets)
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
