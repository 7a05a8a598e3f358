//! A simulated fault is to the router what the same fault over HTTP is to a real LiteLLM: both versions
//! were asked through `routelab mock` (`record/ask_litellm.py`), and what they saw is held against runs
//! in virtual time.

use router::RouteError;
use serde_json::Value;

use super::{saw::Saw, *};

/// One request at two deployments with this fault, as the script asks.
fn simulated(profile: &str, fault: &Value, stream: bool) -> Saw {
    let latency = "{first_token: {constant: {ms: 20}}, per_output_token: {constant: {ms: 5}}}";
    let providers = format!("default: {{latency: {latency}, faults: [{fault}]}}");
    let share = u8::from(stream);
    let workload = format!(
        "stream_share: {share}, arrivals: {{constant: {{per_second: 1}}}}, duration_s: 1.5"
    );
    let settings = "num_retries: 0, timeout: 2, stream_timeout: 2";
    let text = scenario(settings, &providers, &workload) + "profile: " + profile + "\n";
    let text = text.replace("output: {constant: 11}", "output: {constant: 6}");
    let mut ledger = Ledger::default();
    let end = simulate(&plan(&text), &mut ledger).unwrap();
    assert_eq!(end.requests, 1);
    let benched = ledger.cooldowns > 0;
    match ledger.answered[&RequestId(0)].1 {
        Answer::Completed { usage, .. } => Saw {
            exception: None,
            status: None,
            tokens: usage.completion_tokens.into(),
            benched,
        },
        Answer::Failed {
            error: RouteError::Attempt { failure, .. },
            ..
        } => Saw {
            exception: Some(failure.class.exception().to_owned()),
            status: failure.status.map(u64::from),
            tokens: failure.tokens_delivered.into(),
            benched,
        },
        ref other => panic!("{fault}: {other:?}"),
    }
}

#[test]
fn each_fault_is_to_the_router_what_it_is_to_litellm_over_http() {
    for (profile, rows) in [
        ("litellm-1.110", include_str!("record/litellm-1.110.json")),
        ("litellm-1.92", include_str!("record/litellm-1.92.json")),
    ] {
        let rows: Vec<Value> = serde_json::from_str(rows).unwrap();
        assert_eq!(rows.len(), 76);
        let wrong = rows.iter().filter_map(|row| {
            let (fault, stream) = (&row["fault"], row["stream"] == true);
            let (found, due) = (simulated(profile, fault, stream), Saw::recorded(row));
            (found != due)
                .then(|| format!("{profile} {fault} stream {stream}: {found:?}, not {due:?}"))
        });
        let wrong: Vec<String> = wrong.collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
