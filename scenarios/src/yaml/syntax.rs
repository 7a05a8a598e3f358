//! What the YAML parser refuses, in this crate's words: the place, the mistake, what to do.

use super::{MOST_ALIASED_NODES, MOST_LEVELS, MOST_NODES, place};
use crate::error::ScenarioError;

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "most mistakes are told in the parser's words"
)]
pub(super) fn in_our_words(error: &serde_saphyr::Error, text: &str) -> ScenarioError {
    use serde_saphyr::Error as Yaml;

    if let Some((line, column)) = first_template_mark(text) {
        return ScenarioError::new("found a template (`{{ … }}`), which is no YAML yet")
            .help("render it first, as `helm template` does, and give the result")
            .at(line, column);
    }
    let (line, column) = error.location().map_or((0, 0), place);
    let shown = match error.without_snippet() {
        Yaml::DuplicateMappingKey { key: Some(key), .. } => {
            ScenarioError::new(format!("key `{key}` appears twice")).help("keep one of the two")
        }
        Yaml::MultipleDocuments { .. } => ScenarioError::new("found a second YAML document")
            .help("accepted is one document, without `---` between parts"),
        Yaml::AliasReplayLimitExceeded { .. } | Yaml::AliasError { .. } | Yaml::Budget { .. } => {
            ScenarioError::new("the document is too large or nested too deeply").help(format!(
                "accepted are {MOST_NODES} nodes, {MOST_ALIASED_NODES} of them through aliases, \
                 and {MOST_LEVELS} levels"
            ))
        }
        Yaml::RecursiveReferencesRequireWeakTypes { .. } => {
            ScenarioError::new("an alias stands inside its own anchor")
        }
        other => {
            let message = other.to_string();
            let message = message.split(" at line ").next().unwrap_or_default();
            match message {
                "expected string scalar" | "cannot deserialize null into string" => {
                    ScenarioError::new("a key is no plain name").help("accepted is text as a key")
                }
                message if message.starts_with("cannot deserialize null into string") => {
                    ScenarioError::new("a key is empty").help("accepted is text as a key")
                }
                message => ScenarioError::new(format!("not YAML: {message}")),
            }
        }
    };
    shown.at(line, column)
}

/// The place of the first `{{` that stands where a value or a line begins. Only asked of text that
/// is no YAML: inside quotes or blocks of good YAML it may well stand.
fn first_template_mark(text: &str) -> Option<(u32, u32)> {
    (1..).zip(text.lines()).find_map(|(line, content)| {
        let begins = content.trim_start();
        let indent = content.len() - begins.len();
        let at = match begins.find(": {{") {
            _ if begins.starts_with("{{") => indent,
            Some(colon) if !begins.starts_with('#') => indent + colon + 2,
            _ => return None,
        };
        let column = content.get(..at)?.chars().count() + 1;
        Some((line, u32::try_from(column).ok()?))
    })
}

#[cfg(test)]
mod tests {
    use super::super::parse;

    fn fails(text: &str) -> String {
        parse(text, "t.yaml").unwrap_err().to_string()
    }

    #[test]
    fn an_alias_bomb_is_refused() {
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..9 {
            let below = vec![format!("*a{}", level - 1); 8].join(", ");
            bomb.push_str(&format!("a{level}: &a{level} [{below}]\n"));
        }

        let error = fails(&bomb);

        assert!(
            error.contains("the document is too large or nested too deeply"),
            "{error}"
        );
    }

    #[test]
    fn nesting_without_end_is_refused() {
        let error = fails(&"[".repeat(5_000));

        assert!(error.starts_with("t.yaml:1:"), "{error}");
    }

    #[test]
    fn what_is_no_yaml_is_told_with_its_place() {
        insta::assert_snapshot!(fails("a: [1,\n"), @"t.yaml:1:4: not YAML: unclosed bracket '['");
        insta::assert_snapshot!(fails("a: 1\na: 2\n"), @"t.yaml:2:1: key `a` appears twice; keep one of the two");
        insta::assert_snapshot!(fails("a: b: c"), @"t.yaml:1:5: not YAML: mapping values are not allowed in this context");
        insta::assert_snapshot!(fails("a: *b"), @"t.yaml:1:4: not YAML: alias references unknown anchor");
        insta::assert_snapshot!(fails("a: &b [*b]"), @"t.yaml:1:8: an alias stands inside its own anchor");
        insta::assert_snapshot!(fails("a: 1\n---\nb: 1\n"), @"t.yaml:3:1: found a second YAML document; accepted is one document, without `---` between parts");
        insta::assert_snapshot!(fails("? [a]\n: 1"), @"t.yaml:1:3: a key is no plain name; accepted is text as a key");
        insta::assert_snapshot!(fails("~: 1"), @"t.yaml:1:1: a key is empty; accepted is text as a key");
    }

    #[test]
    fn a_template_is_told_apart_from_broken_yaml() {
        let error = fails("# {{ note }}\nname: {{ .Values.name }}\n");

        insta::assert_snapshot!(error, @"t.yaml:2:7: found a template (`{{ … }}`), which is no YAML yet; render it first, as `helm template` does, and give the result");
    }

    #[test]
    fn braces_inside_text_are_no_template() {
        assert!(parse("prompt: 'Hello {{ name }}'\n", "t").is_ok());
    }
}
