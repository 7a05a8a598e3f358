//! The user's config with the answer in it: comments, order and everything else stay.

use std::{fs, path::Path};

use scenarios::litellm;
use sim::tune::Space;

use super::edit;
use crate::{
    cli::{ScenarioArgs, TuneArgs},
    complaint::Complaint,
};

/// The text of the config that is to be patched.
pub(super) fn read(scenario: &ScenarioArgs, to: &Path) -> Result<String, Complaint> {
    let complaint = |message: String| Complaint::Usage {
        message,
        help: "give the LiteLLM config that is tuned with --config".to_owned(),
    };
    let Some(config) = &scenario.config else {
        return Err(complaint(
            "--patch writes a config, and none was given".to_owned(),
        ));
    };
    if to == config {
        return Err(complaint(
            "--patch would overwrite the config that is tuned".to_owned(),
        ));
    }
    fs::read_to_string(config)
        .map_err(|error| complaint(format!("cannot read {}: {error}", config.display())))
}

/// Tells of a knob that no config can hold.
pub(super) fn check(args: &TuneArgs, space: &Space) -> Result<(), Complaint> {
    if args.patch.is_none() {
        return Ok(());
    }
    let bad = space.knobs.iter().find_map(|knob| steps(&knob.path).err());
    bad.map_or(Ok(()), |why| {
        Err(Complaint::Usage {
            message: format!("--patch: {why}"),
            help: "leave out --patch, or turn knobs of router_settings and of the model_list only"
                .to_owned(),
        })
    })
}

/// Writes the config under the changes and what `--set` changes in it, if that was asked for; what
/// is told of it.
pub(super) fn write(args: &TuneArgs, changes: &[(String, String)]) -> Result<String, Complaint> {
    let Some(file) = &args.patch else {
        return Ok(String::new());
    };
    let sets = args.scenario.sets.iter();
    let sets = sets.filter(|(path, _)| steps(path).is_ok());
    let changes: Vec<_> = sets.chain(changes).cloned().collect();
    if changes.is_empty() {
        return Ok("\nNothing to change: no patch was written.\n".to_owned());
    }
    let patched = patched(&args.scenario, file, &changes)?;
    fs::write(file, patched).map_err(|source| Complaint::Write {
        what: file.display().to_string(),
        source,
    })?;
    Ok(format!(
        "\nThe config with these changes: {}\n",
        file.display()
    ))
}

/// The config under these changes.
fn patched(
    scenario: &ScenarioArgs,
    to: &Path,
    changes: &[(String, String)],
) -> Result<String, Complaint> {
    let by_hand = |why: String| Complaint::Usage {
        message: format!(
            "the config cannot be patched: {why}; make these changes by hand:{}",
            changes
                .iter()
                .map(|(path, value)| format!("\n  {path}: {value}"))
                .collect::<String>()
        ),
        help: format!("{} was not written", to.display()),
    };
    let text = read(scenario, to)?;
    let steps = changes
        .iter()
        .map(|(path, value)| Ok((steps(path)?, value.clone())));
    let steps = steps.collect::<Result<Vec<_>, _>>().map_err(by_hand)?;
    let text = edit::apply(&text, &steps).map_err(by_hand)?;
    // What is written must still be a config.
    litellm::read(&text, &to.display().to_string())
        .map_err(|error| by_hand(format!("it would be no config any more ({error})")))?;
    Ok(text)
}

/// One step into a config.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Step {
    Key(String),
    Index(usize),
}

/// The steps into a config of a path as `--set` takes it: what begins with no section is a key of
/// `router_settings`.
pub(super) fn steps(path: &str) -> Result<Vec<Step>, String> {
    let no_config = || format!("`{path}` is no setting of a config");
    let full = scenarios::setting_path(path).map_err(|_| no_config())?;
    let in_config = full.strip_prefix("litellm.").ok_or_else(no_config)?;
    let steps = split(in_config).ok_or_else(no_config)?;
    let section = match steps.first() {
        Some(Step::Key(section)) => section.as_str(),
        _ => return Err(no_config()),
    };
    match (section, &steps[1..]) {
        ("router_settings" | "litellm_settings" | "general_settings", [Step::Key(_), ..])
        | ("model_list", [Step::Index(_), Step::Key(_), ..]) => Ok(steps),
        _ => Err(no_config()),
    }
}

/// The parts of a path: names with dots between, in double quotes where they hold dots themselves,
/// and items of lists in brackets.
fn split(path: &str) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    let mut rest = path;
    loop {
        if let Some(inside) = rest.strip_prefix('[') {
            let (index, after) = inside.split_once(']')?;
            steps.push(Step::Index(index.parse().ok()?));
            rest = after;
        } else if let Some(inside) = rest.strip_prefix('"') {
            let (name, after) = inside.split_once('"').filter(|(n, _)| !n.contains('\\'))?;
            steps.push(Step::Key(name.to_owned()));
            rest = after;
        } else {
            let (name, after) = rest.split_at(rest.find(['.', '[']).unwrap_or(rest.len()));
            if name.is_empty() {
                return None;
            }
            steps.push(Step::Key(name.to_owned()));
            rest = after;
        }
        match rest.strip_prefix('.') {
            Some(after) => rest = after,
            None if rest.is_empty() => return Some(steps),
            None if rest.starts_with('[') => {}
            None => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_config_can_hold_is_told() {
        for path in [
            "workload.duration_s",
            "model_list.weight",
            "model_list[x].a",
            "litellm",
            "router_settings",
        ] {
            assert!(steps(path).is_err(), "{path}");
        }
    }

    #[test]
    fn a_path_without_a_section_leads_into_the_router_settings() {
        let key = |name: &str| Step::Key(name.to_owned());

        assert_eq!(
            steps("model_group_retry_policy.\"gpt-4.1\".TimeoutErrorRetries").unwrap(),
            [
                key("router_settings"),
                key("model_group_retry_policy"),
                key("gpt-4.1"),
                key("TimeoutErrorRetries")
            ]
        );
        assert_eq!(
            steps("litellm.router_settings.timeout").unwrap(),
            steps("timeout").unwrap()
        );
    }
}
