//! Files of token lengths.

use std::fs;

use scenarios::workload::{length_file, trace_stats::TokenStats};

use super::{assert_same, data, stats, trace};

#[test]
fn lists_of_lengths_have_their_statistics() {
    for name in ["sharegpt_8k_lengths", "arxiv_summarization_lengths"] {
        let Some((expected, text)) = trace(name) else {
            return;
        };

        let pairs = length_file::read_pairs(&text, name).unwrap();

        assert_eq!(pairs.rows.len() as u64, expected["rows"].as_u64().unwrap());
        assert_eq!(pairs.books.dropped_rows(), 0);
        let of = |value: fn(&(u32, u32)) -> u32| {
            let values = pairs.rows.iter().map(value).map(u64::from);
            serde_json::to_value(TokenStats::of(values)).unwrap()
        };
        let compared = assert_same(name, &of(|pair| pair.0), &expected["input_tokens"])
            + assert_same(name, &of(|pair| pair.1), &expected["output_tokens"]);
        assert_eq!(compared, 2 * 13);
    }
}

#[test]
fn distribution_functions_have_their_points() {
    for name in [
        "azure_cdf",
        "lmsys_cdf",
        "lmsys_multiturn_cdf",
        "agent_heavy_cdf",
    ] {
        let (Some(folder), Some(expected)) = (data(), stats(name)) else {
            return;
        };
        let path = folder.join("traces/lengths").join(format!("{name}.json"));

        let points = length_file::read_cdf(&fs::read_to_string(path).unwrap(), name).unwrap();

        assert_eq!(
            points.len() as u64,
            expected["points"].as_u64().unwrap(),
            "{name}"
        );
        let pair = |key: &str| {
            (
                expected[key][0].as_f64().unwrap(),
                expected[key][1].as_f64().unwrap(),
            )
        };
        assert_eq!(points[0], pair("first"), "{name}");
        assert_eq!(points[points.len() - 1], pair("last"), "{name}");
    }
}
