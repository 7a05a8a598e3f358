//! Paths into a tree: `router_settings.cooldown_time`, `model_list[0].litellm_params.rpm`,
//! `model_group_alias."gpt-4.1"`.
//!
//! Segments are parted by dots, items of lists stand in brackets and count from 0, and a key that
//! holds a dot, a bracket, a quote or a space is put in double quotes (`\"` and `\\` inside).

use super::{Entry, Key, Map, Node, Value, parse};
use crate::error::{ScenarioError, did_you_mean};

/// One step down a tree.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Segment {
    Key(String),
    Index(usize),
}

impl Node {
    /// The node at `path`, if the path is well formed and leads somewhere.
    #[must_use]
    pub fn at_path(&self, path: &str) -> Option<&Self> {
        segments(path)
            .ok()?
            .iter()
            .try_fold(self, |node, segment| match segment {
                Segment::Key(name) => node.get(name),
                Segment::Index(index) => node.as_seq()?.get(*index),
            })
    }

    /// Puts `value`, read as YAML, at `path`. Mappings on the way that are missing or null are
    /// made; lists keep their length. What is put has no place, so that an error about it names the
    /// key but no line of the file.
    ///
    /// # Errors
    ///
    /// A path that is not well formed, that leads through a scalar or beyond a list, or a value
    /// that is no YAML. The error names the path as its key.
    pub fn set_path(&mut self, path: &str, value: &str) -> Result<(), ScenarioError> {
        let mut value = parse(value, "").map_err(|error| {
            ScenarioError::new(format!("the value `{value}` is {}", error.message())).key(path)
        })?;
        value.forget_places();
        self.put_path(path, value)
    }

    /// Puts a node at `path`, as [`Node::set_path`] does.
    ///
    /// # Errors
    ///
    /// As [`Node::set_path`].
    pub fn put_path(&mut self, path: &str, value: Self) -> Result<(), ScenarioError> {
        let mut node = self;
        for segment in segments(path).map_err(|error| error.key(path))? {
            node = node.step_down(&segment).map_err(|error| error.key(path))?;
        }
        *node = value;
        Ok(())
    }

    fn step_down(&mut self, segment: &Segment) -> Result<&mut Self, ScenarioError> {
        if self.is_null() && matches!(segment, Segment::Key(_)) {
            self.value = Value::Map(Map::default());
        }
        let found = self.value.to_string();
        match (segment, &mut self.value) {
            (Segment::Key(name), Value::Map(map)) => Ok(map.get_or_insert(name)),
            (Segment::Index(index), Value::Seq(items)) => {
                let length = items.len();
                items.get_mut(*index).ok_or_else(|| {
                    ScenarioError::new(format!("no item [{index}] in a list of {length}"))
                        .help("items count from 0")
                })
            }
            (Segment::Key(name), Value::Seq(_)) => {
                Err(ScenarioError::new(format!("`{name}` is asked of a list"))
                    .help(format!("accepted is an item, as in `[0].{name}`")))
            }
            (Segment::Key(name), _) => {
                Err(ScenarioError::new(format!("`{name}` is asked of {found}"))
                    .help("accepted is a path through mappings and lists"))
            }
            (Segment::Index(index), _) => Err(ScenarioError::new(format!(
                "`[{index}]` is asked of {found}"
            ))
            .help("only lists have items")),
        }
    }

    fn forget_places(&mut self) {
        (self.line, self.column) = (0, 0);
        match &mut self.value {
            Value::Seq(items) => items.iter_mut().for_each(Self::forget_places),
            Value::Map(map) => {
                for Entry { key, value } in &mut map.entries {
                    (key.line, key.column) = (0, 0);
                    value.forget_places();
                }
            }
            Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Str(_) => {}
        }
    }
}

impl Map {
    /// A key that looks like a slip of `name`, for a hint where `name` is missing.
    #[must_use]
    pub fn nearest(&self, name: &str) -> Option<&str> {
        let names = self.entries.iter().map(|entry| entry.key.name.as_str());
        did_you_mean(name, names.filter(|&other| other != name))
    }

    fn get_or_insert(&mut self, name: &str) -> &mut Node {
        let known = self.entries.iter().position(|entry| entry.key.name == name);
        let index = known.unwrap_or_else(|| {
            let key = Key {
                name: name.to_owned(),
                line: 0,
                column: 0,
            };
            self.entries.push(Entry {
                key,
                value: Node::unplaced(Value::Null),
            });
            self.entries.len() - 1
        });
        &mut self.entries[index].value
    }
}

/// `parent.key`, the key in quotes where it needs them.
#[must_use]
pub fn join(parent: &str, key: &str) -> String {
    if parent.is_empty() {
        quoted(key)
    } else {
        format!("{parent}.{}", quoted(key))
    }
}

/// A key as it stands in a path.
#[must_use]
pub fn quoted(key: &str) -> String {
    let plain = !key.is_empty()
        && !key.contains(|c: char| c.is_whitespace() || matches!(c, '.' | '[' | ']' | '"' | '='));
    if plain {
        key.to_owned()
    } else {
        format!("\"{}\"", key.replace('\\', "\\\\").replace('"', "\\\""))
    }
}

/// A path as accounts and errors write it: with quotes where a key needs them, and nowhere else.
///
/// # Errors
///
/// A path that is not well formed. The error names it as its key.
pub(crate) fn canonical(path: &str) -> Result<String, ScenarioError> {
    let segments = segments(path).map_err(|error| error.key(path))?;
    let further = |whole: String, segment: &Segment| match segment {
        Segment::Key(name) => join(&whole, name),
        Segment::Index(index) => format!("{whole}[{index}]"),
    };
    Ok(segments.iter().fold(String::new(), further))
}

fn segments(path: &str) -> Result<Vec<Segment>, ScenarioError> {
    let bad = |what: &str| {
        ScenarioError::new(format!("this is no path: {what}"))
            .help("a path looks like `router_settings.cooldown_time` or `model_list[0].model_name`")
    };
    let mut found = Vec::new();
    let mut rest = path;
    loop {
        if let Some(inside) = rest.strip_prefix('[') {
            let (index, after) = inside
                .split_once(']')
                .ok_or_else(|| bad("`[` is not closed"))?;
            let index = index.parse().map_err(|_| bad("an item is a number"))?;
            found.push(Segment::Index(index));
            rest = after;
        } else if let Some(inside) = rest.strip_prefix('"') {
            let (name, after) = quoted_name(inside).ok_or_else(|| bad("`\"` is not closed"))?;
            found.push(Segment::Key(name));
            rest = after;
        } else {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            let (name, after) = rest.split_at(end);
            if name.is_empty() {
                return Err(bad("a name is missing"));
            }
            found.push(Segment::Key(name.to_owned()));
            rest = after;
        }
        match rest.strip_prefix('.') {
            Some(after) => rest = after,
            None if rest.is_empty() => return Ok(found),
            None if rest.starts_with('[') => {}
            None => return Err(bad("a dot is missing")),
        }
    }
}

/// A name up to its closing quote, and what follows the quote.
fn quoted_name(inside: &str) -> Option<(String, &str)> {
    let mut name = String::new();
    let mut chars = inside.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((name, &inside[at + 1..])),
            '\\' => name.push(chars.next()?.1),
            c => name.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> Node {
        let text = "a:\n  b: [1, {c: 2}]\n  gpt-4.1: x\nn:\ns: text\n";
        parse(text, "t.yaml").unwrap()
    }

    #[test]
    fn a_path_leads_through_mappings_lists_and_quoted_keys() {
        let tree = tree();

        assert_eq!(tree.at_path("a.b[1].c").unwrap().value, Value::Int(2));
        assert_eq!(tree.at_path("a.\"gpt-4.1\"").unwrap().as_str(), Some("x"));
        assert_eq!(
            tree.at_path(&join("a", "gpt-4.1")).unwrap().as_str(),
            Some("x")
        );
        assert_eq!(tree.at_path("a.z"), None);
        assert_eq!(tree.at_path("a..b"), None);
    }

    #[test]
    fn set_path_replaces_and_makes_what_is_missing() {
        let mut tree = tree();

        tree.set_path("a.b[0]", "0.5").unwrap();
        tree.set_path("n.deep.er", "[x, y]").unwrap();
        tree.set_path("fresh", "yes please").unwrap();

        assert_eq!(tree.at_path("a.b[0]").unwrap().value, Value::Float(0.5));
        assert_eq!(tree.at_path("n.deep.er[1]").unwrap().as_str(), Some("y"));
        assert_eq!(tree.get("fresh").unwrap().as_str(), Some("yes please"));
    }

    #[test]
    fn an_error_about_a_replaced_value_points_at_no_line_of_the_file() {
        let mut tree = tree();
        tree.set_path("a.b", "[1, fast]").unwrap();

        let read = tree
            .at_path("a")
            .unwrap()
            .get("b")
            .unwrap()
            .read::<Vec<u32>>("t.yaml");

        let expected = "t.yaml: [1]: found the text \"fast\"; \
                        accepted is a whole number of at least 0";
        assert_eq!(read.unwrap_err().to_string(), expected);
    }

    #[test]
    fn paths_that_lead_nowhere_say_where_they_stop() {
        let mut tree = tree();
        let mut fails = |path, value| tree.set_path(path, value).unwrap_err().to_string();

        assert_eq!(
            fails("a.b[2]", "1"),
            "a.b[2]: no item [2] in a list of 2; items count from 0"
        );
        assert_eq!(
            fails("a.b.c", "1"),
            "a.b.c: `c` is asked of a list; accepted is an item, as in `[0].c`"
        );
        assert_eq!(
            fails("s.t", "1"),
            "s.t: `t` is asked of the text \"text\"; accepted is a path through mappings and lists"
        );
        assert!(fails("a..b", "1").starts_with("a..b: this is no path: a name is missing;"));
        assert!(fails("a[x]", "1").starts_with("a[x]: this is no path: an item is a number;"));
        assert!(fails("a", "[1").starts_with("a: the value `[1` is not YAML: "));
    }
}
