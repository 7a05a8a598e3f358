//! Every scenario of the library over HTTP, its requests so far apart that few meet: the same decisions
//! for each request as in virtual time, and a journal that replays to the same.
//!
//! It takes minutes of real time, so it runs by name (`.ci/run twins`). Where the machine came later
//! than a decision may hang on, nothing is said of that scenario: it is counted, and never red.

use std::collections::BTreeMap;

use router::{Event, Instant, Observer, RequestId};
use scenarios::{LibraryEntry, LoadOptions, RunPlan, Scenario, Source};
use sim::{
    journal::{Head, Journal, replay},
    live_run, simulate,
};

/// What was decided for each request, in its order and without times.
#[derive(Debug, Default)]
struct OfEach(BTreeMap<RequestId, Vec<String>>);

impl Observer for OfEach {
    fn observe(&mut self, _: Instant, event: &Event<'_>) {
        let (request, told) = match event {
            Event::Picked {
                request,
                deployment,
                ..
            } => (request, format!("{}", deployment.0)),
            Event::Retrying { request, .. } => (request, "again".to_owned()),
            Event::FellBack { request, why, .. } => (request, format!("{why:?}")),
            Event::Answered { request, answer } => match answer {
                router::Answer::Completed { cached, .. } => (request, format!("answer {cached}")),
                router::Answer::Failed { error, .. } => (request, error.exception().to_owned()),
            },
            _ => return,
        };
        self.0.entry(*request).or_default().push(told);
    }
}

/// The reference arm's first replication for 16 s, with a request a second. A scenario whose traffic is a
/// recorded trace gets traffic, one that sweeps its traffic has no arms.
fn plan(entry: &LibraryEntry) -> RunPlan {
    let set = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    let options = LoadOptions {
        sets: vec![
            set("workload.arrivals", "{constant: {per_second: 1}}"),
            set("workload.duration_s", "16"),
            set(
                "workload.lengths",
                "{prompt: {constant: 100}, output: {constant: 50}}",
            ),
        ],
        replications: Some(1),
        ..LoadOptions::default()
    };
    let mut text = entry.text.to_owned();
    if text.contains("\n  trace:") {
        text = without(&text, "workload") + "workload: {stream_share: 1}\n";
    }
    if text.contains("\n  workload.arrivals") {
        for block in ["sweep", "reference", "expect"] {
            text = without(&text, block);
        }
    }
    let name = entry.name.to_owned();
    let scenario = Scenario::load(&Source::Text { name, text }, &options).unwrap();
    scenario.plan(scenario.reference(), 0)
}

/// A scenario without one of its outermost keys.
fn without(text: &str, key: &str) -> String {
    let begins = format!("{key}:");
    let mut inside = false;
    let lines = text.lines().filter(|line| {
        if line.starts_with(|first: char| first.is_ascii_lowercase()) {
            inside = line.starts_with(&begins);
        }
        !inside
    });
    lines.flat_map(|line| [line, "\n"]).collect()
}

#[tokio::test]
#[ignore = "minutes of real time; `.ci/run twins` runs it"]
async fn every_scenario_of_the_library_decides_over_http_as_in_virtual_time() {
    let (mut wrong, mut undecided) = (Vec::new(), 0);
    for entry in scenarios::library() {
        let plan = plan(entry);
        let mut simulated = OfEach::default();
        simulate(&plan, &mut simulated).unwrap();
        let mut told = None;
        for speed in [4.0, 2.0, 1.0] {
            let journal = Journal::begin(Vec::new(), &Head::of_plan(&plan)).unwrap();
            let run = live_run(&plan, speed, (OfEach::default(), journal))
                .await
                .unwrap();
            let (live, journal) = run.observer;
            let replayed = replay(&journal.finish().unwrap()[..]).unwrap();
            assert_eq!(replayed.difference, None, "{}: the journal", entry.name);

            let same = live
                .0
                .iter()
                .filter(|(id, told)| simulated.0.get(id) == Some(told));
            let (same, all) = (same.count(), simulated.0.len().max(live.0.len()));
            let late = run.latest;
            println!(
                "| {} | {same} of {all} | {} decisions replayed, ×{speed}, {:.0} ms late |",
                entry.name,
                replayed.inputs,
                late.as_secs_f64() * 1e3
            );
            told = Some((same == all, late));
            if same == all {
                break;
            }
            if late <= IN_TIME {
                let other = simulated
                    .0
                    .iter()
                    .find(|(id, told)| live.0.get(id) != Some(told));
                let other = other.map(|(id, told)| (id, told, live.0.get(id)));
                println!("  {other:?}");
                break;
            }
        }
        match told {
            Some((true, _)) | None => {}
            Some((false, late)) if late > IN_TIME => undecided += 1,
            Some((false, _)) => wrong.push(entry.name),
        }
    }
    println!("{undecided} undecided: the machine was too slow");
    assert!(
        wrong.is_empty(),
        "other decisions than in virtual time: {wrong:?}"
    );
}

/// What comes later than this, in the run's time, may meet another router.
const IN_TIME: std::time::Duration = std::time::Duration::from_millis(30);
