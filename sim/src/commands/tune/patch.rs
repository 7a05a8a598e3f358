//! The user's config with the answer in it: comments, order and everything else stay.

use std::{fs, path::Path};

use scenarios::litellm;
use sim::tune::Space;
use yamlpatch::{Op, Patch, apply_yaml_patches};
use yamlpath::{Component, Document, Route};

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

/// The config under these changes.
pub(super) fn patched(
    scenario: &ScenarioArgs,
    to: &Path,
    changes: &[(String, String)],
) -> Result<String, Complaint> {
    let by_hand = |why: String| Complaint::Usage {
        message: format!("the config cannot be patched: {why}"),
        help: "make the changes that are listed above by hand".to_owned(),
    };
    let text = apply(&read(scenario, to)?, changes).map_err(by_hand)?;
    // What is written must still be a config.
    litellm::read(&text, &to.display().to_string())?;
    Ok(text)
}

fn apply(text: &str, changes: &[(String, String)]) -> Result<String, String> {
    let mut document = Document::new(text).map_err(|error| error.to_string())?;
    for (path, value) in changes {
        document = with(&document, path, value)?;
    }
    Ok(document.source().to_owned())
}

fn with(document: &Document, path: &str, value: &str) -> Result<Document, String> {
    let steps = steps(path)?;
    let value: yaml_serde::Value =
        yaml_serde::from_str(value).map_err(|error| error.to_string())?;
    let route = route(&steps);
    let (last, before) = steps.split_last().ok_or("it has no path")?;
    let Step::Key(key) = last else {
        return Err(format!("`{path}` is no setting"));
    };
    let parent = self::route(before);
    if !document.query_exists(&parent) {
        let [Step::Key(block)] = before else {
            return Err(format!("the config has no place for `{path}`"));
        };
        // A new block at the end, apart from what was there.
        let mut text = document.source().trim_end().to_owned();
        let shown = yaml_serde::to_string(&value).map_err(|error| error.to_string())?;
        text += &format!("\n\n{block}:\n  {key}: {}\n", shown.trim_end());
        return Document::new(text).map_err(|error| error.to_string());
    }
    let (route, operation) = if document.query_exists(&route) {
        (route, Op::Replace(value))
    } else {
        let key = (*key).to_owned();
        (parent, Op::Add { key, value })
    };
    apply_yaml_patches(document, &[Patch { route, operation }]).map_err(|error| error.to_string())
}

/// One step into a config.
enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

/// The steps of a path as `--set` takes it: a bare name is a key of `router_settings`.
fn steps(path: &str) -> Result<Vec<Step<'_>>, String> {
    let no_config = || format!("`{path}` is no setting of a config");
    let path_in_config = path.strip_prefix("litellm.").unwrap_or(path);
    let mut steps = Vec::new();
    for part in path_in_config.split('.') {
        let (key, index) = match part.split_once('[') {
            Some((key, rest)) => {
                let index = rest.strip_suffix(']').and_then(|index| index.parse().ok());
                (key, Some(index.ok_or_else(no_config)?))
            }
            None => (part, None),
        };
        steps.push(Step::Key(key));
        steps.extend(index.map(Step::Index));
    }
    match steps.as_slice() {
        [
            Step::Key("router_settings" | "litellm_settings"),
            Step::Key(_),
            ..,
        ]
        | [Step::Key("model_list"), Step::Index(_), Step::Key(_), ..] => Ok(steps),
        [Step::Key(_)] => {
            steps.insert(0, Step::Key("router_settings"));
            Ok(steps)
        }
        _ => Err(no_config()),
    }
}

fn route<'a>(steps: &[Step<'a>]) -> Route<'a> {
    let component = |step: &Step<'a>| match *step {
        Step::Key(key) => Component::from(key),
        Step::Index(index) => Component::from(index),
    };
    Route::from(steps.iter().map(component).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patched(text: &str, changes: &[(&str, &str)]) -> String {
        let changes: Vec<_> = changes
            .iter()
            .map(|&(path, value)| (path.to_owned(), value.to_owned()))
            .collect();
        apply(text, &changes).unwrap()
    }

    const CHANGES: [(&str, &str); 2] =
        [("cooldown_time", "30"), ("routing_strategy", "least-busy")];

    #[test]
    fn comments_and_order_stay_where_they_are() {
        let text = "# mine
router_settings:
  num_retries: 2   # enough
  cooldown_time: 5 # folklore
  # the end
model_list: []
";

        insta::assert_snapshot!(patched(text, &CHANGES), @r"
        # mine
        router_settings:
          num_retries: 2   # enough
          cooldown_time: 30 # folklore
          routing_strategy: least-busy
          # the end
        model_list: []
        ");
    }

    #[test]
    fn settings_that_are_not_there_are_added_in_their_block_or_in_a_new_one() {
        insta::assert_snapshot!(
            patched("router_settings: {num_retries: 2}\n", &CHANGES),
            @"router_settings: { num_retries: 2, cooldown_time: 30, routing_strategy: least-busy }"
        );
        insta::assert_snapshot!(patched("model_list: []  # none\n", &CHANGES), @r"
        model_list: []  # none

        router_settings:
          cooldown_time: 30
          routing_strategy: least-busy
        ");
    }

    #[test]
    fn a_setting_of_a_deployment_is_put_into_its_entry() {
        let text = "model_list:
  - model_name: chat # the first
    litellm_params: {model: openai/a}
  - model_name: chat
    litellm_params:
      model: openai/b
      weight: 1 # even
";
        let changes = [
            ("model_list[0].litellm_params.weight", "2"),
            ("model_list[1].litellm_params.weight", "4"),
        ];

        insta::assert_snapshot!(patched(text, &changes), @r#"
        model_list:
          - model_name: chat # the first
            litellm_params: { model: "openai/a", weight: 2 }
          - model_name: chat
            litellm_params:
              model: openai/b
              weight: 4 # even
        "#);
    }

    #[test]
    fn what_no_config_can_hold_is_told() {
        for path in [
            "workload.duration_s",
            "model_list.weight",
            "model_list[x].a",
        ] {
            assert!(steps(path).is_err(), "{path}");
        }
    }
}
