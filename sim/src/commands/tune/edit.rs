//! Changes of a YAML text that touch nothing else: comments, order and style stay.
//!
//! No way of editing is trusted. A change is tried in several ways, and the first is taken after
//! which the text says what the old one said, with aliases and merges resolved, but for this change.

use yaml_serde::{Mapping, Value};
use yamlpatch::{Op, Patch, apply_yaml_patches};
use yamlpath::{Component, Document, FeatureKind, Route};

use super::patch::Step;

/// The text under these changes; else why not.
pub(super) fn apply(text: &str, changes: &[(Vec<Step>, String)]) -> Result<String, String> {
    let mut text = text.to_owned();
    for (path, value) in changes {
        let value = yaml_serde::from_str(value).map_err(|error| error.to_string())?;
        text = with(&text, path, &value)?;
    }
    Ok(text)
}

fn with(text: &str, path: &[Step], value: &Value) -> Result<String, String> {
    let old = resolved(text)?;
    let mut wanted = old.clone();
    put(&mut wanted, path, value.clone())?;
    if wanted == old {
        return Ok(text.to_owned());
    }
    let document = Document::new(text).map_err(|error| error.to_string())?;
    let tried = ways(&document, path, value);
    let found = tried
        .into_iter()
        .find(|new| resolved(new).is_ok_and(|new| new == wanted));
    found.ok_or_else(|| {
        format!(
            "{} cannot be changed without changing anything else; it may be shared by an anchor, or \
             its place be written in a way that is not understood",
            shown(path)
        )
    })
}

/// What a text says, its aliases and merges resolved.
fn resolved(text: &str) -> Result<Value, String> {
    let mut value: Value = yaml_serde::from_str(text).map_err(|error| error.to_string())?;
    value.apply_merge().map_err(|error| error.to_string())?;
    Ok(value)
}

/// Puts a value at a path; mappings on the way that are missing or null are made.
fn put(mut tree: &mut Value, path: &[Step], value: Value) -> Result<(), String> {
    let nowhere = || format!("the config has no place for {}", shown(path));
    for step in path {
        if tree.is_null() && matches!(step, Step::Key(_)) {
            *tree = Value::Mapping(Mapping::new());
        }
        tree = match (step, tree) {
            (Step::Key(key), Value::Mapping(map)) => {
                map.entry(Value::from(key.as_str())).or_insert(Value::Null)
            }
            (Step::Index(index), Value::Sequence(items)) => {
                items.get_mut(*index).ok_or_else(nowhere)?
            }
            _ => return Err(nowhere()),
        };
    }
    *tree = value;
    Ok(())
}

/// Texts that may have the change, the one that touches the least first.
fn ways(document: &Document, path: &[Step], value: &Value) -> Vec<String> {
    if document.query_exists(&route(path)) {
        let mut ways = replaced(document, path, value);
        ways.extend(patched(document, path, Op::Replace(value.clone())));
        return ways;
    }
    // The deepest place that is there gets a key with what is missing below it.
    let is_there = |&depth: &usize| document.query_exists(&route(&path[..depth]));
    let depth = (1..path.len()).rev().find(is_there).unwrap_or(0);
    let (place, missing) = path.split_at(depth);
    let Some((Step::Key(key), below)) = missing.split_first() else {
        return Vec::new();
    };
    let Some(value) = nested(below, value) else {
        return Vec::new();
    };
    if place.is_empty() {
        return appended(document, key, value).into_iter().collect();
    }
    let mut ways = inserted(document, place, key, &value);
    let add = Op::Add {
        key: key.clone(),
        value: value.clone(),
    };
    ways.extend(patched(document, place, add));
    ways.extend(filled(document, place, key, value));
    ways
}

/// A place without a value, as in `router_settings:`, with a mapping of one key.
fn filled(document: &Document, place: &[Step], key: &str, value: Value) -> Option<String> {
    let source = document.source();
    let feature = document.query_key_only(&route(place)).ok()?;
    let end = feature.location.byte_span.1;
    let at = end + source[end..].find(':')? + 1;
    let map = Mapping::from_iter([(Value::from(key), value)]);
    let map = serde_json::to_string(&map).ok()?;
    Some(format!("{} {map}{}", &source[..at], &source[at..]))
}

/// A value below further keys.
fn nested(keys: &[Step], value: &Value) -> Option<Value> {
    keys.iter()
        .rev()
        .try_fold(value.clone(), |value, step| match step {
            Step::Key(key) => {
                let map = Mapping::from_iter([(Value::from(key.as_str()), value)]);
                Some(Value::Mapping(map))
            }
            Step::Index(_) => None,
        })
}

/// The bytes of a value replaced by those of the new one.
fn replaced(document: &Document, path: &[Step], value: &Value) -> Vec<String> {
    let Ok(Some(feature)) = document.query_exact(&route(path)) else {
        return Vec::new();
    };
    let (start, end) = feature.location.byte_span;
    let source = document.source();
    let new = |written: String| source[..start].to_owned() + &written + &source[end..];
    written(value).into_iter().map(new).collect()
}

/// A further key before the closing brace of a flow mapping.
fn inserted(document: &Document, place: &[Step], key: &str, value: &Value) -> Vec<String> {
    let Ok(Some(feature)) = document.query_exact(&route(place)) else {
        return Vec::new();
    };
    if feature.kind() != FeatureKind::FlowMapping {
        return Vec::new();
    }
    let source = document.source();
    let Some(brace) = source[..feature.location.byte_span.1].rfind('}') else {
        return Vec::new();
    };
    let last = source[..brace].trim_end();
    let comma = if last.ends_with(['{', ',']) { "" } else { ", " };
    let keys = written(&Value::from(key)).into_iter();
    let entries = keys.zip(written(value)).flat_map(|(key, value)| {
        let entry = format!("{comma}{key}: {value}");
        // After the last entry, or, where a comment follows that, right before the brace.
        [last.len(), brace].map(|at| source[..at].to_owned() + &entry + &source[at..])
    });
    entries.collect()
}

/// A new block at the end, apart from what was there.
fn appended(document: &Document, key: &str, value: Value) -> Option<String> {
    let block = Mapping::from_iter([(Value::from(key), value)]);
    let block = yaml_serde::to_string(&block).ok()?;
    Some(format!("{}\n\n{block}", document.source().trim_end()))
}

/// How a value may be written on one line: as people write it, and so that it fits everywhere.
fn written(value: &Value) -> Vec<String> {
    let plain = yaml_serde::to_string(value).ok();
    let plain = plain.map(|text| text.trim_end().to_owned());
    let is_scalar = !value.is_mapping() && !value.is_sequence();
    let plain = plain.filter(|text| is_scalar && !text.contains('\n'));
    let quoted = serde_json::to_string(value).ok();
    plain.into_iter().chain(quoted).collect()
}

fn patched(document: &Document, path: &[Step], operation: Op<'_>) -> Option<String> {
    let route = route(path);
    let new = apply_yaml_patches(document, &[Patch { route, operation }]).ok()?;
    Some(new.source().to_owned())
}

fn route(steps: &[Step]) -> Route<'_> {
    let component = |step: &Step| match step {
        Step::Key(key) => Component::Key(key.clone().into()),
        Step::Index(index) => Component::from(*index),
    };
    Route::from(steps.iter().map(component).collect::<Vec<_>>())
}

fn shown(path: &[Step]) -> String {
    let mut text = String::new();
    for step in path {
        match step {
            Step::Key(key) => text = scenarios::yaml::join(&text, key),
            Step::Index(index) => text += &format!("[{index}]"),
        }
    }
    format!("`{text}`")
}

#[cfg(test)]
mod tests {
    use super::{super::patch::steps, *};

    fn edited(text: &str, changes: &[(&str, &str)]) -> Result<String, String> {
        let changes: Vec<_> = changes
            .iter()
            .map(|&(path, value)| (steps(path).unwrap(), value.to_owned()))
            .collect();
        apply(text, &changes)
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

        insta::assert_snapshot!(edited(text, &CHANGES).unwrap(), @r"
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
            edited("router_settings: {num_retries: 2}\n", &CHANGES).unwrap(),
            @"router_settings: {num_retries: 2, cooldown_time: 30, routing_strategy: least-busy}"
        );
        insta::assert_snapshot!(edited("model_list: []  # none\n", &CHANGES).unwrap(), @r"
        model_list: []  # none

        router_settings:
          cooldown_time: 30
          routing_strategy: least-busy
        ");
        insta::assert_snapshot!(
            edited("router_settings: {}\n", &CHANGES).unwrap(),
            @"router_settings: {cooldown_time: 30, routing_strategy: least-busy}"
        );
        insta::assert_snapshot!(edited("router_settings:\nmodel_list: []\n", &CHANGES).unwrap(), @r#"
            router_settings: {"cooldown_time":30, routing_strategy: least-busy}
            model_list: []
            "#);
    }

    #[test]
    fn a_change_in_a_flow_mapping_leaves_its_other_settings() {
        let retries = [("num_retries", "2")];

        insta::assert_snapshot!(
            edited("router_settings: {timeout: 60, num_retries: 0, cooldown_time: 1}\n", &retries)
                .unwrap(),
            @"router_settings: {timeout: 60, num_retries: 2, cooldown_time: 1}"
        );
        insta::assert_snapshot!(
            edited("router_settings: {num_retries: 0, cooldown_time: 1}\n", &retries).unwrap(),
            @"router_settings: {num_retries: 2, cooldown_time: 1}"
        );
        let lines = "router_settings: {\n  timeout: 60, # long\n  cooldown_time: 1 # short\n}\n";
        insta::assert_snapshot!(
            edited(lines, &[("cooldown_time", "5"), ("num_retries", "2")]).unwrap(),
            @r"
            router_settings: {
              timeout: 60, # long
              cooldown_time: 5 # short
            , num_retries: 2}
            "
        );
    }

    #[test]
    fn what_several_deployments_share_is_not_changed_for_one() {
        let text = "shared: &p {model: openai/a, weight: 1}
model_list:
  - {model_name: chat, litellm_params: *p}
  - {model_name: chat, litellm_params: *p}
";

        let told = edited(text, &[("model_list[0].litellm_params.weight", "2")]).unwrap_err();

        assert!(told.contains("shared by an anchor"), "{told}");
    }

    #[test]
    fn what_is_merged_is_changed_where_it_is_merged_into() {
        let text = "shared: &p {model: openai/a, weight: 1}
model_list:
  - model_name: chat
    litellm_params: {<<: *p}
  - model_name: chat
    litellm_params:
      <<: *p
";
        let changes = [
            ("model_list[0].litellm_params.weight", "2"),
            ("model_list[1].litellm_params.weight", "3"),
        ];

        insta::assert_snapshot!(edited(text, &changes).unwrap(), @r"
        shared: &p {model: openai/a, weight: 1}
        model_list:
          - model_name: chat
            litellm_params: {<<: *p, weight: 2}
          - model_name: chat
            litellm_params:
              <<: *p
              weight: 3
        ");
    }

    #[test]
    fn what_cannot_be_read_back_is_refused() {
        let anchored = "a: &r 0\nb: *r\nrouter_settings: {num_retries: *r}\n";
        let ended = "model_list: []\n...\n";
        let anchor = "router_settings: {num_retries: &r 0, timeout: *r}\n";

        assert_eq!(
            edited(anchored, &[("num_retries", "2")]).as_deref(),
            Ok("a: &r 0\nb: *r\nrouter_settings: { num_retries: 2 }\n")
        );
        assert!(edited(ended, &CHANGES).is_err());
        assert!(edited(anchor, &[("num_retries", "2")]).is_err());
    }

    #[test]
    fn nested_settings_are_made_with_what_holds_them() {
        let change = [("retry_policy.TimeoutErrorRetries", "3")];
        let of = |text| edited(text, &change).unwrap();

        insta::assert_snapshot!(of("router_settings:\n  timeout: 5\n"), @r"
        router_settings:
          timeout: 5
          retry_policy:
            TimeoutErrorRetries: 3
        ");
        insta::assert_snapshot!(of("router_settings: {timeout: 5}\n"), @r#"router_settings: {timeout: 5, retry_policy: {"TimeoutErrorRetries":3}}"#);
        insta::assert_snapshot!(of("model_list: []\n"), @r"
        model_list: []

        router_settings:
          retry_policy:
            TimeoutErrorRetries: 3
        ");
        insta::assert_snapshot!(
            of("router_settings:\n  retry_policy: {TimeoutErrorRetries: 0, a: 1}\n"),
            @r"
            router_settings:
              retry_policy: {TimeoutErrorRetries: 3, a: 1}
            "
        );
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

        insta::assert_snapshot!(edited(text, &changes).unwrap(), @"
        model_list:
          - model_name: chat # the first
            litellm_params: {model: openai/a, weight: 2}
          - model_name: chat
            litellm_params:
              model: openai/b
              weight: 4 # even
        ");
    }
}
