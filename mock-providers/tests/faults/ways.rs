//! Every fault strikes by rate, by schedule, and one by one, and whom it strikes does not depend on
//! what it does.

use mock_providers::Provider;

use super::{at, call, provider};

/// A fault: its name, its key, and its settings beside share and schedule.
type Case = (&'static str, &'static str, &'static str);

/// The faults that take a `share` and a schedule.
const CASES: [Case; 31] = [
    ("refused", "broken", r#""how": "refused""#),
    ("reset", "broken", r#""how": "reset""#),
    ("bad certificate", "broken", r#""how": "tls""#),
    ("hang before headers", "hang", ""),
    (
        "hang mid-stream",
        "mid_stream",
        r#""how": "silence", "after_tokens": 4"#,
    ),
    (
        "silence, then a short answer",
        "stall",
        r#""for_s": 30, "after_tokens": 4"#,
    ),
    (
        "kept alive without content",
        "stall",
        r#""for_s": 30, "keep_alive_s": 2"#,
    ),
    (
        "cut after n tokens",
        "mid_stream",
        r#""how": "cut", "after_tokens": 4"#,
    ),
    (
        "cut after a share",
        "mid_stream",
        r#""how": "cut", "after_share": 0.5"#,
    ),
    (
        "malformed chunk",
        "mid_stream",
        r#""how": "malformed", "after_tokens": 4"#,
    ),
    (
        "malformed from the start",
        "broken",
        r#""how": "malformed""#,
    ),
    (
        "missing last frame",
        "mid_stream",
        r#""how": "no_end", "after_tokens": 11"#,
    ),
    ("missing end marker", "broken", r#""how": "no_done""#),
    (
        "error object inside a stream",
        "mid_stream",
        r#""how": "error_event", "after_tokens": 4"#,
    ),
    (
        "error object inside a 200",
        "broken",
        r#""how": "error_object""#,
    ),
    (
        "429 inside a 200",
        "broken",
        r#""how": "error_object", "class": "rate_limit""#,
    ),
    ("empty 200", "broken", r#""how": "empty""#),
    ("page of a gateway", "broken", r#""how": "not_json""#),
    ("401", "bad_key", ""),
    ("404", "model_gone", ""),
    (
        "context window",
        "error_rate",
        r#""class": "context_window_exceeded""#,
    ),
    (
        "content policy",
        "error_rate",
        r#""class": "content_policy_violation""#,
    ),
    ("500", "error_rate", ""),
    ("slow drip", "slow_drip", r#""per_token_ms": 900"#),
    (
        "retry-after zero",
        "wrong_hint",
        r#""hint": {"seconds": 0}"#,
    ),
    (
        "retry-after negative",
        "wrong_hint",
        r#""hint": {"seconds": -5}"#,
    ),
    (
        "retry-after a date",
        "wrong_hint",
        r#""hint": {"date_in_s": 30}"#,
    ),
    (
        "retry-after huge",
        "wrong_hint",
        r#""hint": {"seconds": 999999999}"#,
    ),
    (
        "retry-after garbage",
        "wrong_hint",
        r#""hint": "unreadable""#,
    ),
    ("storm", "rate_limit_storm", r#""hint": {"seconds": 1}"#),
    ("slow and failing", "brownout", r#""slowdown": 1"#),
];

/// Providers with the fault and without it. A wrong hint has an error after it to stand on.
struct Pair {
    with: Provider,
    without: Provider,
}

impl Pair {
    fn new(key: &str, fault: &str) -> Self {
        let rest = if key == "wrong_hint" {
            r#"{"outage": {}}"#
        } else {
            ""
        };
        let comma = if rest.is_empty() { "" } else { ", " };
        Self {
            with: provider(&format!("{fault}{comma}{rest}")),
            without: provider(rest),
        }
    }

    /// Whether the fault strikes attempt `n`, made at this second.
    fn strikes(&mut self, n: u64, second: f64) -> bool {
        let (at, call) = (at(second), call(n, true));
        self.with.respond(at, &call) != self.without.respond(at, &call)
    }

    /// The share of 10,000 attempts from second `from` on that it strikes, one every 10 ms.
    fn struck_share(&mut self, from: f64) -> f64 {
        let strikes = |n: u32| self.strikes(n.into(), from + f64::from(n) * 0.01);
        let struck = (0..10_000).map(strikes).filter(|&struck| struck).count();
        f64::from(u32::try_from(struck).unwrap()) / 10_000.0
    }
}

/// The fault of a case with the share and the schedule.
fn fault((_, key, settings): Case, share: f64, schedule: &str) -> String {
    let name = if key == "brownout" {
        "error_share"
    } else {
        "share"
    };
    let all = [&format!(r#""{name}": {share}"#), settings, schedule];
    let keys = all.into_iter().filter(|keys| !keys.is_empty());
    format!(
        r#"{{"{key}": {{{}}}}}"#,
        keys.collect::<Vec<_>>().join(", ")
    )
}

/// Four standard errors of a share of 0.3 in 10,000.
const NEAR: f64 = 0.0184;

#[test]
fn by_rate_it_strikes_its_share_of_attempts() {
    for case in CASES {
        for (share, off_by) in [(0.0, 0.0), (0.3, NEAR), (1.0, 0.0)] {
            let struck = Pair::new(case.1, &fault(case, share, "")).struck_share(0.0);
            assert!((struck - share).abs() <= off_by, "{}: {struck}", case.0);
        }
    }
}

#[test]
fn by_schedule_it_strikes_while_it_is_on_and_never_else() {
    for case in CASES {
        let name = case.0;
        let met = |schedule: &str, seconds: [f64; 5]| {
            let mut pair = Pair::new(case.1, &fault(case, 1.0, schedule));
            seconds.map(|second| pair.strikes(0, second))
        };
        let moments = [9.9, 10.0, 19.9, 20.0, 25.0];

        let from_on = met(r#""from_s": 10"#, moments);
        assert_eq!(from_on, [false, true, true, true, true], "{name}");
        let between = met(r#""from_s": 10, "to_s": 20"#, moments);
        assert_eq!(between, [false, true, true, false, false], "{name}");
        let every = r#""every": {"period_s": 20, "on_s": 10, "first_s": 10}"#;
        let every = met(every, [9.9, 10.0, 19.9, 20.0, 30.1]);
        assert_eq!(every, [false, true, true, false, true], "{name}");

        let random = r#""random": {"gap_mean_s": 20, "gap_cv": 1, "duration_mean_s": 20,
                                   "duration_cv": 1}"#;
        let mut pair = Pair::new(case.1, &fault(case, 1.0, random));
        let spans = pair.with.fault_spans(at(400.0));
        assert!(spans.len() > 3, "{name}: {spans:?}");
        for step in 0..400 {
            let now = at(f64::from(step));
            let on = spans.iter().any(|span| span.from <= now && now < span.to);
            assert_eq!(pair.strikes(0, f64::from(step)), on, "{name} at {now}");
        }
    }
}

#[test]
fn one_by_one_it_strikes_the_attempt_whose_turn_it_is() {
    for case in CASES {
        let steps = format!("[null, {}, null, null]", fault(case, 1.0, ""));
        let met = |repeat: bool| {
            let script = format!(r#"{{"scripted": {{"steps": {steps}, "repeat": {repeat}}}}}"#);
            let mut pair = Pair::new(case.1, &script);
            [0, 1, 2, 3, 4, 5, 6].map(|n| pair.strikes(n, 1.0))
        };

        let once = [false, true, false, false, false, false, false];
        assert_eq!(met(false), once, "{}", case.0);
        let again = [false, true, false, false, false, true, false];
        assert_eq!(met(true), again, "{}", case.0);
    }
}

#[test]
fn flapping_and_outages_have_their_own_rate_and_the_same_schedules() {
    let flapping = r#"{"flapping": {"period_s": 0.37, "up_share": 0.7}}"#;
    let struck = Pair::new("flapping", flapping).struck_share(0.0);
    assert!((struck - 0.3).abs() < 0.01, "{struck}");

    let window = r#""from_s": 10, "to_s": 20"#;
    for fault in [
        format!(r#"{{"flapping": {{"period_s": 4, "up_share": 0, {window}}}}}"#),
        format!(r#"{{"outage": {{{window}}}}}"#),
    ] {
        let mut pair = Pair::new("", &fault);
        let met = [9.9, 10.0, 19.9, 20.0].map(|second| pair.strikes(0, second));
        assert_eq!(met, [false, true, true, false], "{fault}");
        let script = format!(r#"{{"scripted": {{"steps": [null, {fault}]}}}}"#);
        let mut pair = Pair::new("", &script);
        assert_eq!(
            [0, 1, 2].map(|n| pair.strikes(n, 15.0)),
            [false, true, false]
        );
    }
}
