//! No name in the signatures of LiteLLM's own types is unknown here.
//!
//! `signatures.txt` lists names alone: the arguments of `litellm.Router`, the fields of the types of an
//! entry, of policies and groups, and the library's settings that have to do with routing, of 1.92.0 and
//! 1.110.2 together, as the installed packages give them.

use scenarios::litellm;

const NAMES: &str = include_str!("signatures.txt");

/// A config with this key in this section.
fn config(section: &str, key: &str) -> String {
    let entry = "model_name: m, litellm_params: {model: openai/x";
    let plain = format!("model_list: [{{{entry}}}}}]\n");
    match section.rsplit_once('.') {
        Some((_, "litellm_params")) => format!("model_list: [{{{entry}, {key}: 1}}}}]\n"),
        Some((_, "model_info")) => {
            format!("model_list: [{{{entry}}}, model_info: {{{key}: 1}}}}]\n")
        }
        Some((_, "routing_groups[0]")) => {
            format!("{plain}router_settings: {{routing_groups: [{{{key}: 1}}]}}\n")
        }
        Some((outer, inner)) => format!("{plain}{outer}: {{{inner}: {{{key}: 1}}}}\n"),
        None => format!("{plain}{section}: {{{key}: 1}}\n"),
    }
}

#[test]
fn no_name_of_the_real_signatures_is_unknown() {
    let mut section = "";
    let mut unknown = Vec::new();
    let mut names = 0;
    for line in NAMES.lines() {
        if let Some(name) = line.strip_prefix('[') {
            section = name.strip_suffix(']').unwrap();
            continue;
        }
        names += 1;
        // What refuses the value knows the key.
        let Ok(read) = litellm::read(&config(section, line), "config.yaml") else {
            continue;
        };
        let slip = |told: &&litellm::IgnoredKey| {
            told.path.ends_with(&format!(".{line}"))
                && (told.reason.contains("unknown")
                    || told.reason.contains("not here")
                    || told.reason.contains("no routing key"))
        };
        if let Some(told) = read.ignored.iter().find(slip) {
            unknown.push(format!("{section}.{line}: {}", told.reason));
        }
    }

    assert!(names > 400, "{names}");
    assert!(unknown.is_empty(), "{}", unknown.join("\n"));
}
