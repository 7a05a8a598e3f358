//! A config inside a Kubernetes ConfigMap: `data` holds the file as a block of text. It is read in
//! place, so that lines and columns stay those of the outer file.

use crate::{
    error::ScenarioError,
    yaml::{Entry, Map, Node, Value, parse},
};

/// The config inside a ConfigMap, with what stood around it as further top-level keys. `None` where
/// the document is no ConfigMap.
pub(super) fn unwrap(
    document: &Node,
    text: &str,
    file: &str,
) -> Result<Option<Node>, ScenarioError> {
    let Some(outer) = document.as_map() else {
        return Ok(None);
    };
    if document.get("kind").and_then(Node::as_str) != Some("ConfigMap") {
        return Ok(None);
    }
    let Some(Entry { key, value: data }) = outer.entry("data") else {
        return Err(document.error("a ConfigMap without `data`").in_file(file));
    };
    let files = data
        .as_map()
        .ok_or_else(|| data.unaccepted("a mapping of files").key("data"))?;
    let named = |entry: &&Entry| {
        let name = &entry.key.name;
        entry.value.as_str().is_some() && (name.ends_with(".yaml") || name.ends_with(".yml"))
    };
    let Some(found) = files.entries.iter().find(named) else {
        return Err(data
            .error("the ConfigMap holds no file `*.yaml`")
            .key("data")
            .help("accepted is a LiteLLM config under `data.config.yaml`")
            .in_file(file));
    };
    let content = found.value.as_str().expect("only text is a file");
    let offset = offset_of(content, &found.value, text);
    let mut inner = parse(content, file).map_err(|error| {
        let (line, column) = (error.line().unwrap_or(1), error.column().unwrap_or(1));
        let (line, column) = offset.of(line, column);
        error.moved_to(line, column)
    })?;
    offset.shift(&mut inner);
    if inner.is_null() {
        inner.value = Value::Map(Map::default());
    }
    let Value::Map(map) = &mut inner.value else {
        return Err(inner.unaccepted("a LiteLLM config").in_file(file));
    };
    let others: Vec<Entry> = files
        .entries
        .iter()
        .filter(|e| e.key != found.key)
        .cloned()
        .collect();
    map.entries.extend(
        outer
            .entries
            .iter()
            .filter(|entry| entry.key != *key)
            .cloned(),
    );
    if !others.is_empty() {
        let value = Node {
            value: Value::Map(Map { entries: others }),
            ..data.clone()
        };
        map.entries.push(Entry {
            key: key.clone(),
            value,
        });
    }
    Ok(Some(inner))
}

/// Where the inner text stands in the outer one.
enum Offset {
    /// A literal block: each line of it is one of the outer text, further to the right.
    Block { lines: u32, columns: u32 },
    /// Folded or quoted text: only its beginning is known.
    Point { line: u32, column: u32 },
}

fn offset_of(content: &str, node: &Node, text: &str) -> Offset {
    let point = Offset::Point {
        line: node.line,
        column: node.column,
    };
    let Ok(above) = usize::try_from(node.line.saturating_sub(1)) else {
        return point;
    };
    let outer: Vec<&str> = text
        .lines()
        .skip(above)
        .take(content.lines().count())
        .collect();
    let same = content
        .lines()
        .zip(&outer)
        .all(|(inner, outer)| outer.trim() == inner.trim());
    if same && outer.len() == content.lines().count() && content.lines().count() > 1 {
        Offset::Block {
            lines: node.line - 1,
            columns: node.column - 1,
        }
    } else {
        point
    }
}

impl Offset {
    const fn of(&self, inner_line: u32, inner_column: u32) -> (u32, u32) {
        match *self {
            Self::Block { lines, columns } => (inner_line + lines, inner_column + columns),
            Self::Point { line, column } => (line, column),
        }
    }

    fn shift(&self, node: &mut Node) {
        (node.line, node.column) = self.of(node.line, node.column);
        match &mut node.value {
            Value::Seq(items) => items.iter_mut().for_each(|item| self.shift(item)),
            Value::Map(map) => {
                for Entry { key, value } in &mut map.entries {
                    (key.line, key.column) = self.of(key.line, key.column);
                    self.shift(value);
                }
            }
            Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Str(_) => {}
        }
    }
}
