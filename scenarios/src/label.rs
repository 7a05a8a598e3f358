//! How a value of an axis is written in labels, tables and `where`: numbers in their shortest form,
//! so that `5` and `5.0` are one value; lists and mappings on one line.

use crate::yaml::Value;

/// The label of a value.
pub(crate) fn label(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Float(value) => value.to_string(),
        Value::Str(text) => text.clone(),
        Value::Seq(items) => {
            let items: Vec<String> = items.iter().map(|item| label(&item.value)).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Map(map) => {
            let entry = |entry: &crate::yaml::Entry| {
                format!("{}: {}", entry.key.name, label(&entry.value.value))
            };
            let entries: Vec<String> = map.entries.iter().map(entry).collect();
            format!("{{{}}}", entries.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::parse;

    #[test]
    fn labels_are_short_and_alike_for_alike_values() {
        let of = |text: &str| label(&parse(text, "f").unwrap().value);

        assert_eq!(of("5.0"), of("5"));
        assert_eq!(of("0.20"), "0.2");
        assert_eq!(of("true"), "true");
        assert_eq!(of("[{a: 1}, b]"), "[{a: 1}, b]");
        assert_eq!(of("~"), "null");
    }
}
