//! Who is to blame for requests without an answer: one blame each, whatever happens in a run.

use proptest::prelude::*;
use reports::{Blame, BlameCount, Blamer, RunRecord};
use sim::recorder_setup;

use super::*;

/// Hears a run beside its recorder and keeps each request's blame.
struct Judge {
    blamer: Blamer,
    blames: BTreeMap<RequestId, Vec<Blame>>,
    unanswered: usize,
}

impl Observer for Judge {
    const LAST_LOOK: bool = true;

    fn observe(&mut self, at: Instant, event: &Event<'_>) {
        match event {
            Event::Answered {
                answer: Answer::Failed { .. },
                request,
            }
            | Event::Cancelled { request, .. }
                if !request.is_mirror() =>
            {
                self.unanswered += 1;
            }
            _ => {}
        }
        if let Some(blame) = self.blamer.hear(at, event) {
            let request = event.request().unwrap();
            self.blames.entry(request).or_default().push(blame);
        }
    }
}

fn judged(plan: &RunPlan) -> Judge {
    let mut judge = Judge {
        blamer: Blamer::new(&recorder_setup(plan).unwrap()),
        blames: BTreeMap::new(),
        unanswered: 0,
    };
    simulate(plan, &mut judge).unwrap();
    judge
}

/// The blames of a run with their percentages.
fn shares(settings: &str, providers: &str, workload: &str) -> Vec<(Blame, u64)> {
    let run = record_run(&plan(&scenario(settings, providers, workload)), &()).unwrap();
    let percent = |count: u64| count * 100 / (run.failed + run.cancelled);
    let blames = run.blames.iter();
    blames.map(|one| (one.blame, percent(one.count))).collect()
}

const QUICK: &str =
    "latency: {first_token: {constant: {ms: 10}}, per_output_token: {constant: {ms: 1}}}";

/// All requests of a run with these faults of both providers fail for this one reason.
fn all_by(settings: &str, faults: &str) -> Blame {
    let providers = format!("default: {{{QUICK}, {faults}}}");
    let found = shares(settings, &providers, STEADY);
    assert_eq!(found.len(), 1, "{found:?}");
    found[0].0
}

#[test]
fn what_is_wrong_with_everybody_has_one_blame() {
    let calm = "num_retries: 1, disable_cooldowns: true, timeout: 1";
    for (faults, blame) in [
        ("faults: [{outage: {}}]", Blame::Outage),
        ("faults: [{outage: {from_s: 0, to_s: 100}}]", Blame::Outage),
        ("faults: [{hang: {from_s: 0, to_s: 100}}]", Blame::Outage),
        ("faults: [{hang: {}}]", Blame::Timeout),
        (
            "faults: [{error_rate: {share: 1, status: 400}}]",
            Blame::Request,
        ),
        (
            "faults: [{error_rate: {share: 1, status: 413}}]",
            Blame::Request,
        ),
        ("faults: [{bad_key: {}}]", Blame::Configuration),
        ("faults: [{model_gone: {}}]", Blame::Configuration),
        ("quota: {requests_per_minute: 5}", Blame::OwnQuota),
        (
            "faults: [{rate_limit_storm: {from_s: 0, to_s: 100}}]",
            Blame::Outage,
        ),
    ] {
        // The first errors of an outage without a schedule may still be passing ones.
        let providers = format!("default: {{{QUICK}, {faults}}}");
        let found = shares(calm, &providers, STEADY);
        let most = found.iter().max_by_key(|(_, percent)| *percent).unwrap();
        assert_eq!(most.0, blame, "{faults}: {found:?}");
        assert!(most.1 >= 95, "{faults}: {found:?}");
    }
}

#[test]
fn passing_errors_are_a_matter_of_retries() {
    let faults = "faults: [{error_rate: {share: 0.05, status: 500}}]";
    let calm = "num_retries: 0, disable_cooldowns: true";

    assert_eq!(all_by(calm, faults), Blame::RetriesExhausted);
}

#[test]
fn a_pick_is_wrong_if_another_deployment_stood_ready() {
    let down = format!(
        "default: {{{QUICK}}}, b: {{{QUICK}, faults: [{{outage: {{from_s: 2, to_s: 9}}}}]}}"
    );
    let calm = "num_retries: 0, disable_cooldowns: true";

    assert_eq!(shares(calm, &down, STEADY), [(Blame::WrongPick, 100)]);
}

#[test]
fn whoever_is_benched_for_a_passing_error_is_missing_by_the_cooldown() {
    // One failure benches; the cooldown outlives the error by far.
    let faults = "faults: [{error_rate: {share: 0.1, status: 500}}]";
    let providers = format!("default: {{{QUICK}, {faults}}}");
    let strict = "num_retries: 0, allowed_fails: 0, cooldown_time: 5";
    let found = shares(strict, &providers, STEADY);

    let of = |blame| {
        found
            .iter()
            .find(|one| one.0 == blame)
            .map_or(0, |one| one.1)
    };
    assert!(of(Blame::Cooldown) > 50, "{found:?}");
    assert_eq!(of(Blame::Outage), 0, "{found:?}");
}

#[test]
fn cooldowns_in_an_outage_of_everybody_are_no_ones_fault_but_the_providers() {
    let faults = "faults: [{outage: {from_s: 0, to_s: 100}}]";
    let strict = "num_retries: 0, allowed_fails: 0, cooldown_time: 5";

    assert_eq!(all_by(strict, faults), Blame::Outage);
}

/// Scenarios in which many things go wrong at once.
fn troubled() -> impl Strategy<Value = String> {
    let fault = prop_oneof![
        Just("{outage: {from_s: 3, to_s: 8}}"),
        Just("{error_rate: {share: 0.3, status: 500}}"),
        Just("{error_rate: {share: 0.1, status: 400}}"),
        Just("{hang: {share: 0.2}}"),
        Just("{rate_limit_storm: {from_s: 5, to_s: 12}}"),
        Just("{bad_key: {from_s: 10, to_s: 12}}"),
        Just("{mid_stream: {share: 0.2, after_share: 0.5}}"),
        Just("{brownout: {from_s: 1, to_s: 15, slowdown: 20}}"),
    ];
    let faults = proptest::collection::vec(fault, 0..3);
    (
        (faults.clone(), faults),
        0_u32..4,
        prop_oneof![Just(0_u32), Just(1), Just(30)],
        any::<bool>(),
        0_u32..4,
        prop_oneof![Just("litellm-1.110"), Just("litellm-1.92"), Just("corrected")],
        1_u32..200,
        0_u64..1_000,
    )
        .prop_map(
            |((a, b), retries, cooldown, benches, fails, profile, quota, seed)| {
                let of = |faults: Vec<&str>| {
                    format!("{{{QUICK}, quota: {{requests_per_minute: {quota}}}, faults: [{}]}}", faults.join(", "))
                };
                let settings = format!(
                    "num_retries: {retries}, cooldown_time: {cooldown}, disable_cooldowns: {}, allowed_fails: {fails}, timeout: 2",
                    !benches
                );
                let providers = format!("a: {}, b: {}", of(a), of(b));
                let workload = "arrivals: {poisson: {per_second: 12}}, duration_s: 15, stream_share: 0.5";
                scenario(&settings, &providers, workload) + &format!("profile: {profile}\nseed: {seed}\n")
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_request_without_an_answer_has_exactly_one_blame_and_shares_sum_to_one(text in troubled()) {
        let plan = plan(&text);
        let judge = judged(&plan);
        let run: RunRecord = record_run(&plan, &()).unwrap();

        prop_assert!(judge.blames.values().all(|blames| blames.len() == 1));
        prop_assert_eq!(judge.blames.len(), judge.unanswered);
        let counted: u64 = run.blames.iter().map(|one| one.count).sum();
        prop_assert_eq!(counted, run.failed + run.cancelled);
        for &BlameCount { blame, count } in &run.blames {
            let told = judge.blames.values().filter(|blames| blames[0] == blame).count();
            prop_assert_eq!(told as u64, count, "{:?}", blame);
        }
    }
}
