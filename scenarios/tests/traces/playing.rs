//! Traces as workloads: slices, factors, repetition, callers.

use std::path::PathBuf;

use router::{Instant, Seed};
use scenarios::{Arrival, LoadOptions, RunPlan, Scenario, Source};

use super::data;

/// A scenario with this workload block; files are named from the traces' folder.
fn load(workload: &str) -> Option<(RunPlan, Vec<String>)> {
    let folder: PathBuf = data()?.join("traces");
    let workload = workload.replace("DATA", &folder.display().to_string());
    let text = format!(
        "purpose: p\nkind: terminating\nlitellm: {{model_list: [{{model_name: m, litellm_params: \
         {{model: gpt-4o}}, model_info: {{id: d}}}}]}}\nproviders: {{m: {{preset: openai}}}}\n\
         workload: {workload}\n"
    );
    let source = Source::Text {
        name: "s".to_owned(),
        text,
    };
    let scenario =
        Scenario::load(&source, &LoadOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    Some((scenario.plan(0, 0), scenario.notes().to_vec()))
}

fn arrivals(plan: &RunPlan) -> Vec<Arrival> {
    let arrivals: Vec<Arrival> = plan.workload.arrivals(plan.seed).collect();
    assert!(arrivals.is_sorted_by_key(|arrival| arrival.at));
    arrivals
}

#[test]
fn a_trace_is_played_as_it_was_recorded() {
    let Some((plan, notes)) = load("{trace: {file: DATA/azure_llm_2023_conv.csv}}") else {
        return;
    };
    let all = arrivals(&plan);

    assert_eq!(all.len(), 19_366);
    assert_eq!(all[0].at, Instant::ZERO);
    assert_eq!((all[0].prompt_tokens, all[0].output_tokens), (374, 44));
    assert_eq!(all[1].at.as_nanos(), 4_314_579_000);
    assert_eq!(all[19_365].at.as_nanos(), 3_501_721_937_000);
    assert!(
        notes[0].ends_with("read 19,366 = kept 19,366 + dropped 0"),
        "{notes:?}"
    );
    // Whatever the seed: only shares of models and streams are drawn.
    assert_eq!(all, plan.workload.arrivals(Seed(99)).collect::<Vec<_>>());
}

#[test]
fn a_slice_played_faster_begins_at_zero() {
    let spec = "{trace: {file: DATA/azure_llm_2023_conv.csv, from_s: 600, to_s: 1200, \
                rate_multiplier: 4}}";
    let Some((plan, notes)) = load(spec) else {
        return;
    };
    let all = arrivals(&plan);

    assert_eq!(plan.workload.duration().as_millis(), 150_000);
    assert!(all[0].at.as_secs_f64() < 1.0);
    assert!(all.last().unwrap().at.as_secs_f64() < 150.0);
    assert!((2_000..5_000).contains(&all.len()), "{}", all.len());
    assert!(
        notes[1].contains("requests are played, those from 600 s to 1200 s"),
        "{notes:?}"
    );
}

#[test]
fn a_repeated_trace_goes_on_where_it_ended() {
    let one = "{trace: {file: DATA/sharegpt_llama31_300_poisson10.csv}}";
    let three = "{trace: {file: DATA/sharegpt_llama31_300_poisson10.csv, repeat: 3}}";
    let (Some((one, _)), Some((three, _))) = (load(one), load(three)) else {
        return;
    };
    let (one, three) = (arrivals(&one), arrivals(&three));

    assert_eq!(three.len(), 900);
    let lag = three[300].at.since(three[0].at);
    assert_eq!(three[899].at, one[299].at + lag + lag);
    assert!(lag > one[299].at.since(one[0].at));
}

#[test]
fn equal_times_keep_the_order_of_the_file() {
    let Some((plan, _)) = load("{trace: {file: DATA/mooncake_conversation.jsonl}}") else {
        return;
    };
    let all = arrivals(&plan);

    let first: Vec<u32> = all[..3]
        .iter()
        .map(|arrival| arrival.prompt_tokens)
        .collect();
    assert_eq!(first[..2], [6_758, 7_322]);
    assert_eq!(all[0].at, all[1].at);
}

#[test]
fn rates_become_a_poisson_process_of_that_rate() {
    let spec = "{trace: {file: DATA/servegen/aggregate_m-small_600s.csv, rate_multiplier: 0.01, \
                to_s: 86400}, lengths: sharegpt-8k}";
    let Some((plan, _)) = load(spec) else { return };
    let count = plan.workload.arrivals(plan.seed).count() as f64;

    // The first of STATS.json's `est_daily`, a hundredth of it; five deviations.
    let expected = 850_923.72;
    assert!((plan.workload.expected_arrivals() / expected - 1.0).abs() < 1e-6);
    assert!(
        (count - expected).abs() < 5.0 * f64::sqrt(expected),
        "{count}"
    );
    assert_eq!(plan.workload.duration().as_secs(), 86_400);
}

#[test]
fn callers_are_superposed_each_with_its_own_lengths() {
    let spec = "{trace: {file: DATA/servegen/m-small, from_s: 0, to_s: 3600, rate_multiplier: 0.1}, \
                lengths: {prompt: {constant: 77}, output: {constant: 7}}}";
    let Some((plan, notes)) = load(spec) else {
        return;
    };
    let all = arrivals(&plan);

    let expected = plan.workload.expected_arrivals();
    assert!(
        (all.len() as f64 / expected - 1.0).abs() < 0.05,
        "{} {expected}",
        all.len()
    );
    let borrowed = all
        .iter()
        .filter(|a| (a.prompt_tokens, a.output_tokens) == (77, 7))
        .count();
    assert!(
        borrowed > 0 && borrowed < all.len(),
        "{borrowed} of {}",
        all.len()
    );
    assert!(
        notes[0].contains("10 callers, 6 with lengths of their own"),
        "{notes:?}"
    );
}

#[test]
fn the_azure_scenario_of_the_library_plays_the_whole_trace() {
    let Some(folder) = data() else { return };
    let file = folder
        .join("traces/azure_llm_2023_conv.csv")
        .display()
        .to_string();
    let options = LoadOptions {
        sets: vec![("workload.trace.file".to_owned(), file)],
        ..LoadOptions::default()
    };
    let source = Source::Library("azure-2023-outage".to_owned());
    let scenario = Scenario::load(&source, &options).unwrap();

    assert_eq!(scenario.arms().len(), 24);
    let plan = scenario.plan(23, 9);
    assert_eq!(plan.workload.arrivals(plan.seed).count(), 19_366);
    let [(_, stats)] = &scenario.trace_stats()[..] else {
        panic!("one trace")
    };
    assert_eq!((stats.rows, stats.peak_per_min), (19_366, 507));
}

#[test]
fn a_trace_under_more_load_fills_the_same_time() {
    let Some((plan, _)) = load("{trace: {file: DATA/azure_llm_2023_conv.csv}}") else {
        return;
    };
    let once = arrivals(&plan);

    let more = plan.workload.times(1.5);
    let all: Vec<Arrival> = more.arrivals(plan.seed).collect();

    assert_eq!(more.duration(), plan.workload.duration());
    assert!(all.is_sorted_by_key(|arrival| arrival.at));
    // A round in two thirds of the time, and its first half again.
    assert_eq!(
        all[..once.len()].last().unwrap().at.as_nanos(),
        2_334_481_291_333
    );
    assert!(
        all.len().abs_diff(once.len() * 3 / 2) < 500,
        "{}",
        all.len()
    );
    let end = Instant::ZERO + more.duration();
    assert!(all.iter().all(|arrival| arrival.at < end));
    let expected = more.expected_arrivals();
    assert!((expected - f64::from(u32::try_from(all.len()).unwrap())).abs() < 0.5);
    // Times of 1 change nothing.
    let same: Vec<Arrival> = plan.workload.times(1.0).arrivals(plan.seed).collect();
    assert_eq!(same, once);
}
