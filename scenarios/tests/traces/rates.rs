//! ServeGen: rates of whole services and of single callers.

use std::fs;

use scenarios::workload::trace::servegen::{self, RateTable};

use super::{assert_same, data, stats};

#[test]
fn aggregates_have_their_statistics() {
    for service in ["deepseek-r1", "mm-image", "m-small", "m-mid", "m-large"] {
        let name = format!("servegen_aggregate_{service}");
        let (Some(folder), Some(expected)) = (data(), stats(&name)) else {
            return;
        };
        let file = format!("traces/servegen/aggregate_{service}_600s.csv");
        let text = fs::read_to_string(folder.join(&file)).unwrap();

        let table = RateTable::read(&text, &file).unwrap();

        let found = serde_json::to_value(table.stats()).unwrap();
        assert_eq!(assert_same(&name, &found, &expected), 16, "{name}");
    }
}

#[test]
fn callers_have_their_statistics() {
    for service in ["deepseek-r1", "mm-image", "m-small"] {
        let name = format!("servegen_raw_{service}");
        let (Some(folder), Some(expected)) = (data(), stats(&name)) else {
            return;
        };
        let path = folder.join("traces/servegen").join(service);

        let clients = servegen::read_folder(&path, service).unwrap();

        let found = serde_json::to_value(servegen::ClientsStats::of(&clients)).unwrap();
        assert_eq!(
            assert_same(&name, &found, &expected),
            expected_count(&expected),
            "{name}"
        );
    }
}

/// Scalars of a JSON value.
fn expected_count(value: &serde_json::Value) -> usize {
    value
        .as_object()
        .map_or(1, |map| map.values().map(expected_count).sum())
}
