//! The bound by hindsight: nobody beats it, and where it is tight it is what can be done.

use std::fmt::Write as _;

use mock_providers::{Beginning, ProviderCall, Providers};
use proptest::prelude::*;
use router::{DeploymentId, Instant, Outcome, RequestId};
use scenarios::{Arrival, LoadOptions, RunPlan, Scenario, Source};
use sim::{hindsight_good, record_run};

fn plan(text: &str) -> RunPlan {
    let source = Source::Text {
        name: "hindsight".to_owned(),
        text: text.to_owned(),
    };
    let loaded = Scenario::load(&source, &LoadOptions::default());
    loaded
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
        .plan(0, 0)
}

/// A provider's quota and faults, as drawn.
fn upstream() -> impl Strategy<Value = String> {
    let quota = prop_oneof![
        Just(String::new()),
        (1..60_u32).prop_map(|n| format!("quota: {{requests_per_minute: {n}}}, ")),
        (1..60_u32, 1..30_u32).prop_map(|(n, burst)| format!(
            "quota: {{requests_per_minute: {n}, window: token_bucket, burst_requests: {burst}}}, "
        )),
        (1..60_u32).prop_map(|n| format!(
            "quota: {{requests_per_minute: {n}, window: sliding, count_rejected: true}}, "
        )),
        (500..20_000_u32).prop_map(|n| format!("quota: {{tokens_per_minute: {n}}}, ")),
        (500..20_000_u32).prop_map(|n| format!(
            "quota: {{tokens_per_minute: {n}, token_charge: prompt_and_max_tokens, unset_max_tokens: \
             400, settles: true, overdraft: true}}, "
        )),
        (60..600_u32).prop_map(|n| format!(
            "quota: {{requests_per_minute: {n}, request_slice_s: 7}}, "
        )),
        (5..60_u32).prop_map(|n| format!("quota: {{requests_per_day: {n}, pool: all}}, ")),
    ];
    let fault = prop_oneof![
        Just("[]".to_owned()),
        (0..90_u32, 1..90_u32).prop_map(|(from, length)| format!(
            "[{{outage: {{from_s: {from}, to_s: {}}}}}]",
            from + length
        )),
        (5..40_u32).prop_map(|period| format!(
            "[{{flapping: {{period_s: {period}, up_share: 0.4}}}}, {{error_rate: {{share: 0.3, status: 500}}}}]"
        )),
        Just("[{broken: {how: empty, share: 0.2}}, {outage: {from_s: 20, to_s: 80}}]".to_owned()),
    ];
    let latency = prop_oneof![
        Just("{first_token: {constant: {ms: 3000}}}".to_owned()),
        Just(
            "{first_token: {log_normal: {median_ms: 2000, sigma: 1}}, per_output_token: {constant: {ms: 20}}, \
             daily: us_day}"
                .to_owned()
        ),
    ];
    (latency, quota, fault).prop_map(|(latency, quota, fault)| {
        format!("{{latency: {latency}, {quota}faults: {fault}}}")
    })
}

fn scenario(upstreams: &[String], strategy: &str, settings: (u32, u32), slo: &str) -> String {
    let mut models = String::new();
    let mut providers = String::new();
    for (at, upstream) in upstreams.iter().enumerate() {
        // One quota has one pool: two of another size may not.
        let upstream = upstream.replace("pool: all", &format!("pool: p{at}"));
        let _ = writeln!(
            models,
            "    - {{model_name: m, litellm_params: {{model: openai/x{at}}}, model_info: {{id: d{at}}}}}"
        );
        let _ = writeln!(providers, "  d{at}: {upstream}");
    }
    let (retries, cooldown) = settings;
    format!(
        "
purpose: A random plan.
kind: terminating
litellm:
  model_list:
{models}  router_settings: {{routing_strategy: {strategy}, num_retries: {retries}, cooldown_time: {cooldown}}}
providers:
{providers}workload:
  arrivals: {{poisson: {{per_second: 1}}}}
  lengths: {{prompt: {{constant: 200}}, output: {{log_normal: {{ln_mean: 4, ln_sigma: 1}}}}}}
  duration_s: 130
  stream_share: 0.5
starts_at: 2024-01-01T07:00:37Z
slo: {slo}
"
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(160))]

    #[test]
    fn no_strategy_beats_hindsight(
        upstreams in proptest::collection::vec(upstream(), 1..4),
        strategy in prop_oneof![
            Just("simple-shuffle"), Just("least-busy"), Just("latency-based-routing"),
            Just("usage-based-routing-v2")
        ],
        settings in (0..6_u32, 1..20_u32),
        slo in prop_oneof![
            Just("{latency_s: 8}"), Just("{latency_s: 70}"), Just("{first_token_s: 4}"),
            Just("{latency_s: 20, first_token_s: 3}")
        ],
    ) {
        let plan = plan(&scenario(&upstreams, strategy, settings, slo));
        let run = record_run(&plan, &()).unwrap();
        prop_assume!(run.requests_by_attempts[16] == 0);

        let bound = hindsight_good(&plan).unwrap().unwrap();

        prop_assert!(run.good.unwrap() <= bound, "{:?} of {bound}", run.good);
        prop_assert!(bound <= run.requests);
    }
}

/// The most good answers of all ways to send each request once: to any deployment at its arrival or
/// any whole second after it, or not at all.
fn by_brute_force(plan: &RunPlan) -> u64 {
    let arrivals: Vec<Arrival> = plan.workload.arrivals(plan.seed).collect();
    let patience = plan.slo.latency.unwrap();
    let choices = |arrival: &Arrival| {
        let moments =
            (0..=patience.as_secs()).map(|s| arrival.at + std::time::Duration::from_secs(s));
        let each = moments.flat_map(|at| (0..plan.providers.len()).map(move |d| Some((at, d))));
        each.chain([None]).collect::<Vec<_>>()
    };
    let choices: Vec<Vec<Option<(Instant, usize)>>> = arrivals.iter().map(choices).collect();
    let mut chosen = vec![0; arrivals.len()];
    let mut best = 0;
    loop {
        best = best.max(good_of(plan, &arrivals, &choices, &chosen));
        let Some(next) = (0..chosen.len()).find(|&at| chosen[at] + 1 < choices[at].len()) else {
            return best;
        };
        chosen[..next].fill(0);
        chosen[next] += 1;
    }
}

fn good_of(
    plan: &RunPlan,
    arrivals: &[Arrival],
    choices: &[Vec<Option<(Instant, usize)>>],
    chosen: &[usize],
) -> u64 {
    let specs = plan.providers.iter().map(|binding| &*binding.spec);
    let mut providers = Providers::new(specs, plan.seed, plan.router.epoch).unwrap();
    let sent = (0..arrivals.len()).filter_map(|at| Some((choices[at][chosen[at]]?, at)));
    let mut sent: Vec<_> = sent.collect();
    sent.sort_unstable();
    let good = sent.into_iter().filter(|&((at, deployment), number)| {
        let arrival = &arrivals[number];
        let call = ProviderCall {
            request: RequestId(number as u64),
            attempt: 0,
            deployment: DeploymentId(u32::try_from(deployment).unwrap()),
            prompt_tokens: arrival.prompt_tokens,
            output_tokens: arrival.output_tokens,
            max_tokens: arrival.max_tokens,
            stream: false,
            beginning: Beginning::default(),
            batch: false,
        };
        let reply = providers.respond(at, &call);
        let in_time = at + reply.total_after <= arrival.at + plan.slo.latency.unwrap();
        matches!(reply.outcome, Outcome::Success { .. }) && in_time
    });
    good.count() as u64
}

fn tiny(upstreams: &[&str], per_second: f64, duration: u32) -> RunPlan {
    let upstreams: Vec<String> = upstreams.iter().map(|&one| one.to_owned()).collect();
    let text = scenario(&upstreams, "simple-shuffle", (2, 5), "{latency_s: 4}")
        .replace(
            "poisson: {per_second: 1}",
            &format!("constant: {{per_second: {per_second}}}"),
        )
        .replace("duration_s: 130", &format!("duration_s: {duration}"));
    plan(&text)
}

/// Constant times and a count of requests: nothing is left out that could bind, so the bound is what
/// can be done.
#[test]
fn where_only_counts_and_outages_bind_brute_force_finds_the_bound() {
    let quick = "{latency: {first_token: {constant: {ms: 1000}}}, ";
    let one = |rest: &str| format!("{quick}{rest}}}");
    // The minute ends 23 s into the run.
    for (upstreams, expected) in [
        (vec![one("quota: {requests_per_minute: 1}")], 1),
        (
            vec![
                one("quota: {requests_per_minute: 1}"),
                one("quota: {requests_per_minute: 2}"),
            ],
            3,
        ),
        (vec![one("faults: [{outage: {from_s: 3, to_s: 9}}]")], 3),
        (
            vec![
                one("quota: {requests_per_minute: 2}, faults: [{outage: {from_s: 0, to_s: 5.5}}]"),
                one("quota: {requests_per_minute: 1}, faults: [{outage: {from_s: 1, to_s: 60}}]"),
            ],
            2,
        ),
    ] {
        let upstreams: Vec<&str> = upstreams.iter().map(String::as_str).collect();
        let plan = tiny(&upstreams, 0.5, 9);

        let (bound, brute) = (
            hindsight_good(&plan).unwrap().unwrap(),
            by_brute_force(&plan),
        );

        assert_eq!(bound, brute, "{upstreams:?}");
        assert_eq!(bound, expected, "{upstreams:?}");
    }
}

/// Where tokens, slots and draws bind as well the bound may be above what can be done, and never below.
#[test]
fn brute_force_never_finds_more_than_the_bound() {
    for upstream in [
        "{latency: {first_token: {log_normal: {median_ms: 3500, sigma: 0.5}}}}",
        "{latency: {first_token: {constant: {ms: 1500}}}, max_concurrent: 1}",
        "{latency: {first_token: {constant: {ms: 500}}}, quota: {tokens_per_minute: 520}}",
        "{latency: {first_token: {constant: {ms: 500}}}, quota: {requests_per_minute: 6, window: token_bucket, burst_requests: 1}}",
    ] {
        let plan = tiny(&[upstream], 0.5, 9);

        let (bound, brute) = (
            hindsight_good(&plan).unwrap().unwrap(),
            by_brute_force(&plan),
        );

        assert!(brute <= bound, "{brute} of {bound}: {upstream}");
        assert!(brute > 0, "{upstream}");
    }
}

#[test]
fn without_a_service_level_or_with_cached_answers_nothing_is_bounded() {
    let upstream = ["{latency: {first_token: {constant: {ms: 500}}}}".to_owned()];
    let text = scenario(&upstream, "simple-shuffle", (2, 5), "{latency_s: 4}");

    let with = |text: &str| hindsight_good(&plan(text)).unwrap();
    assert!(with(&text).is_some());
    assert_eq!(with(&text.replace("slo: {latency_s: 4}", "")), None);
    assert_eq!(
        with(&text.replace("num_retries: 2", "cache_responses: true, num_retries: 2")),
        None
    );
}
