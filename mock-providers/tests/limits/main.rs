//! What else a quota may count beside requests and tokens a minute: answers, days, growth; limits
//! that several deployments share, that are lowered, that may be overdrawn; and capacity that belongs
//! to nobody.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "../support/mod.rs"]
mod support;

use mock_providers::{
    Cause, Manner, Provider, ProviderCall, ProviderSpec, Providers, Reply, SpecError,
};
use router::{DeploymentId, Epoch, Instant, Outcome, RequestId, RetryAfter, Seed};

use crate::support::{at, call};

const LATENCY: &str = r#""latency": {"first_token": {"constant": {"ms": 10000}}}"#;

fn spec(settings: &str) -> ProviderSpec {
    serde_json::from_str(&format!("{{{settings}}}")).unwrap()
}

fn provider(settings: &str) -> Provider {
    let spec = spec(&format!("{LATENCY}, {settings}"));
    Provider::new(&spec, Seed(5), 0, Epoch::default()).unwrap()
}

fn succeeds(reply: &Reply) -> bool {
    matches!(reply.outcome, Outcome::Success { .. })
}

fn let_in(provider: &mut Provider, now: Instant, calls: u64, call: &ProviderCall) -> usize {
    let each = (0..calls).map(|_| provider.respond(now, call));
    each.filter(succeeds).count()
}

/// Why the next attempt is turned away, and what it is told.
fn refusal(
    provider: &mut Provider,
    now: Instant,
    call: &ProviderCall,
) -> (Cause, Option<RetryAfter>) {
    let reply = provider.respond(now, call);
    match (reply.manner, reply.outcome) {
        (Manner::Limited(cause), Outcome::Failure(failure)) => (cause, failure.retry_after),
        _ => panic!("it was let in: {reply:?}"),
    }
}

#[test]
fn a_refusal_names_the_limit_that_frees_last() {
    let limits = r#""quota": {"requests_per_minute": 2, "tokens_per_minute": 400,
        "output_tokens_per_minute": 120, "requests_per_day": 3, "window": "token_bucket"}"#;
    let with = |prompt_tokens, output_tokens| ProviderCall {
        prompt_tokens,
        output_tokens,
        ..call(0)
    };

    let mut full = provider(limits);
    assert_eq!(let_in(&mut full, at(0.0), 9, &with(10, 10)), 2);
    assert_eq!(
        refusal(&mut full, at(0.0), &with(10, 10)).0,
        Cause::Requests
    );
    assert!(succeeds(&full.respond(at(30.0), &with(10, 10))));
    let (cause, hint) = refusal(&mut full, at(300.0), &with(10, 10));
    assert_eq!(cause, Cause::RequestsOfDay);
    assert_eq!(hint, Some(RetryAfter::Seconds(86_100)), "until midnight");

    let mut full = provider(limits);
    assert_eq!(
        refusal(&mut full, at(0.0), &with(500, 10)),
        (Cause::Tokens, None)
    );
    assert!(succeeds(&full.respond(at(0.0), &with(300, 100))));
    assert_eq!(
        refusal(&mut full, at(0.0), &with(60, 60)).0,
        Cause::OutputTokens
    );
    assert_eq!(refusal(&mut full, at(0.0), &with(200, 1)).0, Cause::Tokens);
}

#[test]
fn a_day_of_requests_begins_when_the_provider_says() {
    let quota = r#""quota": {"requests_per_day": 5, "day_starts_utc_h": 8}"#;
    let mut provider = provider(quota);

    assert_eq!(let_in(&mut provider, at(0.0), 9, &call(0)), 5);
    assert_eq!(
        let_in(&mut provider, at(8.0 * 3_600.0 - 0.1), 9, &call(0)),
        0
    );
    assert_eq!(let_in(&mut provider, at(8.0 * 3_600.0), 9, &call(0)), 5);
    assert_eq!(let_in(&mut provider, at(31.0 * 3_600.0), 9, &call(0)), 0);
    assert_eq!(let_in(&mut provider, at(32.0 * 3_600.0), 9, &call(0)), 5);
}

#[test]
fn output_is_charged_as_it_turns_out_or_by_max_tokens_until_the_end() {
    let capped = ProviderCall {
        max_tokens: Some(400),
        ..call(0)
    };
    for (charge, first, after_the_end) in [("answer", 8, 0), ("max_tokens", 1, 1)] {
        let mut provider = provider(&format!(
            r#""quota": {{"output_tokens_per_minute": 400, "output_charge": "{charge}"}}"#
        ));

        assert_eq!(
            let_in(&mut provider, at(0.0), 20, &capped),
            first,
            "{charge}"
        );
        // The answers of ten seconds have ended; 350 of the 400 were given back, which is too little
        // for another reservation of 400 but not for one of 350.
        let smaller = ProviderCall {
            max_tokens: Some(350),
            ..capped
        };
        assert_eq!(
            let_in(&mut provider, at(10.0), 1, &smaller),
            after_the_end,
            "{charge}"
        );
    }
}

#[test]
fn the_larger_of_prompt_and_max_tokens_is_charged() {
    let quota = r#""quota": {"tokens_per_minute": 3000,
        "token_charge": "larger_of_prompt_and_max_tokens"}"#;
    for (max_tokens, count) in [(Some(300), 10), (Some(20), 30), (None, 30)] {
        let call = ProviderCall {
            max_tokens,
            ..call(0)
        };

        assert_eq!(
            let_in(&mut provider(quota), at(0.0), 99, &call),
            count,
            "{max_tokens:?}"
        );
    }
}

#[test]
fn output_that_weighs_five_fold_is_paid_for_when_the_answer_has_ended() {
    let quota = r#""quota": {"tokens_per_minute": 1000, "output_weight": 5, "settles": true,
        "token_charge": "prompt_and_max_tokens"}"#;
    let mut provider = provider(quota);
    let call = ProviderCall {
        max_tokens: Some(60),
        ..call(0)
    };

    // Each reserves 100 + 60 and ends up at 100 + 5 · 50.
    assert!(succeeds(&provider.respond(at(0.0), &call)));
    assert_eq!(let_in(&mut provider, at(5.0), 99, &call), 5, "840 are left");
    assert_eq!(
        let_in(&mut provider, at(10.0), 99, &call),
        0,
        "the first is settled"
    );
    assert_eq!(refusal(&mut provider, at(14.9), &call).0, Cause::Tokens);
    assert_eq!(let_in(&mut provider, at(60.0), 99, &call), 6);
}

#[test]
fn an_overdraft_lets_the_next_one_in_whatever_it_costs_and_then_none_until_the_debt_is_paid() {
    let mut provider = provider(
        r#""quota": {"tokens_per_minute": 6000, "window": "token_bucket", "burst_tokens": 100,
            "overdraft": true}"#,
    );
    let large = ProviderCall {
        prompt_tokens: 1_050,
        ..call(0)
    };

    assert!(
        succeeds(&provider.respond(at(0.0), &large)),
        "100 are there, 1,100 are needed"
    );
    let (cause, hint) = refusal(&mut provider, at(0.0), &call(0));
    // A debt of 1,000 at 100 a second, and one token more.
    assert_eq!(
        (cause, hint),
        (Cause::Tokens, Some(RetryAfter::Seconds(11)))
    );
    assert!(!succeeds(&provider.respond(at(10.0), &call(0))));
    assert!(succeeds(&provider.respond(at(10.01), &call(0))));
}

#[test]
fn traffic_that_grows_too_fast_is_cut_and_told_nothing() {
    let mut provider =
        provider(r#""quota": {"slope": {"window_s": 10, "growth": 2, "free_requests": 10}}"#);

    let ramp = [0.0, 10.0, 20.0].map(|s| let_in(&mut provider, at(s), 100, &call(0)));

    assert_eq!(ramp, [10, 20, 40]);
    assert_eq!(
        refusal(&mut provider, at(20.0), &call(0)),
        (Cause::Slope, None)
    );
}

#[test]
fn a_limit_that_is_lowered_for_a_while_lets_less_through_and_says_so() {
    let mut provider = provider(
        r#""quota": {"requests_per_minute": 100,
            "lowered": {"to_share": 0.2, "from_s": 60, "to_s": 180}}"#,
    );

    let minutes = [0.0, 60.0, 120.0, 180.0].map(|s| let_in(&mut provider, at(s), 200, &call(0)));

    assert_eq!(minutes, [100, 20, 20, 100]);
    assert_eq!(
        refusal(&mut provider, at(181.0), &call(0)).0,
        Cause::Requests
    );
    let mut lowered = provider_at_a_lowered_limit();
    assert_eq!(refusal(&mut lowered, at(61.0), &call(0)).0, Cause::Lowered);
}

fn provider_at_a_lowered_limit() -> Provider {
    let mut provider = provider(
        r#""quota": {"requests_per_minute": 10, "lowered": {"to_share": 0.2, "from_s": 60}}"#,
    );
    assert_eq!(let_in(&mut provider, at(60.0), 10, &call(0)), 2);
    provider
}

fn on(deployment: u32) -> ProviderCall {
    ProviderCall {
        deployment: DeploymentId(deployment),
        ..call(0)
    }
}

#[test]
fn deployments_of_one_pool_share_its_count_and_others_have_their_own() {
    let pooled = spec(&format!(
        r#"{LATENCY}, "quota": {{"requests_per_minute": 10, "pool": "account"}}"#
    ));
    let own = spec(&format!(
        r#"{LATENCY}, "quota": {{"requests_per_minute": 10}}"#
    ));
    let specs = [&pooled, &own, &pooled];
    let mut providers = Providers::new(specs, Seed(1), Epoch::default()).unwrap();

    let mut through = [0; 3];
    for round in 0..30 {
        let deployment = round % 3;
        let reply = providers.respond(at(1.0), &on(deployment));
        through[deployment as usize] += u32::from(succeeds(&reply));
    }

    assert_eq!(through, [5, 10, 5]);
}

#[test]
fn a_pool_of_two_different_quotas_is_refused() {
    let quota = |limit| {
        spec(&format!(
            r#"{LATENCY}, "quota": {{"requests_per_minute": {limit}, "pool": "account"}}"#
        ))
    };
    let (ten, eleven) = (quota(10), quota(11));

    let error = Providers::new([&ten, &ten, &eleven], Seed(1), Epoch::default()).unwrap_err();

    let pool = "account".to_owned();
    assert_eq!(error, (2, SpecError::PoolOfTwo { pool }));
    assert!(
        error.1.to_string().contains("accepted is the same quota"),
        "{}",
        error.1
    );
}

#[test]
fn shared_capacity_runs_short_for_a_whole_fleet_at_once_and_for_another_at_other_times() {
    let of_fleet = |fleet: &str| {
        spec(&format!(
            r#"{LATENCY}, "fleet": "{fleet}", "faults": [{{"shared_capacity": {{
                "demand_median": 0.9, "demand_sigma": 0.5, "varies_over_s": 30, "status": 529}}}}]"#
        ))
    };
    let (one, two) = (of_fleet("one"), of_fleet("two"));
    let specs = [&one, &one, &two];
    let mut providers = Providers::new(specs, Seed(1), Epoch::default()).unwrap();
    let spans = providers.fault_spans(at(20_000.0));

    assert!(spans[0].len() > 100, "{}", spans[0].len());
    assert_eq!(spans[0], spans[1], "two keys of one provider");
    assert_ne!(spans[0], spans[2]);
    let mut refused = [0_u32; 2];
    for step in 0..200_000_u32 {
        let now = at(f64::from(step) * 0.1);
        let short = spans[0]
            .iter()
            .any(|span| span.from <= now && now < span.to);
        let call = ProviderCall {
            request: RequestId(step.into()),
            ..on(0)
        };
        let reply = providers.respond(now, &call);
        if let Outcome::Failure(failure) = reply.outcome {
            assert!(short, "at {now}");
            assert_eq!(failure.status, Some(529));
            assert_eq!(reply.manner, Manner::Limited(Cause::SharedCapacity));
            refused[usize::from(short)] += 1;
        }
    }
    assert!(refused[1] > 10_000, "{refused:?}");
}

#[test]
fn vertex_turns_two_attempts_in_a_thousand_away_by_the_demand_of_all() {
    let spec = ProviderSpec::preset("vertex").unwrap();
    assert_eq!(spec.preset.as_deref(), Some("vertex-dsq"));
    let mut shares = Vec::new();
    for seed in 0..40 {
        let mut vertex = Provider::new(&spec, Seed(seed), 0, Epoch::default()).unwrap();
        let refused = (0..20_000_u32).filter(|&n| {
            let call = ProviderCall {
                request: RequestId(n.into()),
                ..call(0)
            };
            !succeeds(&vertex.respond(at(f64::from(n) * 2.0), &call))
        });
        shares.push(f64::from(u32::try_from(refused.count()).unwrap()) / 20_000.0);
    }

    let mean = shares.iter().sum::<f64>() / 40.0;
    assert!((0.001..0.003).contains(&mean), "{mean}");
}

#[test]
fn numbers_that_make_no_sense_are_refused() {
    for (quota, says) in [
        (
            r#""requests_per_minute": 1, "output_weight": 5"#,
            "`output_weight`",
        ),
        (
            r#""requests_per_minute": 1, "overdraft": true"#,
            "`overdraft`",
        ),
        (
            r#""requests_per_minute": 1, "output_charge": "answer""#,
            "`output_charge`",
        ),
        (
            r#""requests_per_minute": 1, "day_starts_utc_h": 3"#,
            "`day_starts_utc_h`",
        ),
        (
            r#""requests_per_day": 1, "day_starts_utc_h": 24"#,
            "quota.day_starts_utc_h is 24",
        ),
        (
            r#""tokens_per_minute": 1, "output_weight": 0"#,
            "quota.output_weight is 0",
        ),
        (
            r#""output_tokens_per_minute": 0"#,
            "quota.output_tokens_per_minute is 0",
        ),
        (
            r#""requests_per_minute": 1, "lowered": {"to_share": 0}"#,
            "quota.lowered.to_share is 0",
        ),
        (
            r#""slope": {"window_s": 1, "growth": 0.5, "free_requests": 1}"#,
            "quota.slope.growth is 0.5",
        ),
    ] {
        let spec = spec(&format!(r#"{LATENCY}, "quota": {{{quota}}}"#));
        let error = Provider::new(&spec, Seed(0), 0, Epoch::default()).unwrap_err();
        let message = error.to_string();
        assert!(
            message.contains(says) && message.contains("accepted is"),
            "{message}"
        );
    }
}

#[test]
fn shared_spans_need_a_fleet() {
    let faults = r#""faults": [{"outage": {"random": {"gap_mean_s": 10, "gap_cv": 1,
        "duration_mean_s": 1, "duration_cv": 1, "shared": 0.5}}}]"#;
    let lone = spec(&format!("{LATENCY}, {faults}"));
    let of_preset = spec(&format!(r#""preset": "openai", {faults}"#));

    let error = Provider::new(&lone, Seed(0), 0, Epoch::default()).unwrap_err();
    assert!(error.to_string().contains("`fleet` or `preset`"), "{error}");
    Provider::new(&of_preset, Seed(0), 0, Epoch::default()).unwrap();
}
