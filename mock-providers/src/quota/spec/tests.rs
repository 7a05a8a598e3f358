//! What a quota takes over from its preset, and which keys need which.

use super::*;

/// Everything that a preset may say beside limits.
const PRESET: &str = r#"{"day_starts_utc_h": 8, "window": "fixed_minute", "request_slice_s": 10,
    "burst_requests": 5, "burst_tokens": 500, "token_charge": "prompt_and_max_tokens",
    "unset_max_tokens": 50, "settles": true, "output_weight": 5, "output_charge": "max_tokens",
    "overdraft": true}"#;

fn spec(json: &str) -> QuotaSpec {
    serde_json::from_str(json).unwrap()
}

/// The keys that `own` gets from a preset.
fn taken_over(own: &str, preset: &str) -> Vec<String> {
    let own = spec(own);
    let keys = |spec: &QuotaSpec| {
        let tree = serde_json::to_value(spec).unwrap();
        let keys: Vec<String> = tree.as_object().unwrap().keys().cloned().collect();
        keys
    };
    let given = keys(&own);
    let mut all = keys(&own.over(&spec(preset)));
    all.retain(|key| !given.contains(key));
    all
}

#[test]
fn a_preset_gives_each_limit_that_there_is_what_belongs_to_it_and_nothing_else() {
    let tokens = [
        "burst_tokens",
        "output_weight",
        "overdraft",
        "settles",
        "token_charge",
        "unset_max_tokens",
        "window",
    ];
    let cases: [(&str, &[&str]); 4] = [
        (
            r#"{"requests_per_minute": 1}"#,
            &["burst_requests", "request_slice_s", "window"],
        ),
        (r#"{"tokens_per_minute": 1}"#, &tokens),
        (
            r#"{"output_tokens_per_minute": 1}"#,
            &["output_charge", "window"],
        ),
        (
            r#"{"requests_per_day": 1}"#,
            &["day_starts_utc_h", "window"],
        ),
    ];
    for (own, keys) in cases {
        assert_eq!(taken_over(own, PRESET), keys, "{own}");
    }
    let with_limit = PRESET.replacen('{', r#"{"tokens_per_minute": 9, "#, 1);
    let mut keys = taken_over(r#"{"rejection_ms": 1}"#, &with_limit);
    keys.retain(|key| key != "tokens_per_minute");
    assert_eq!(keys, tokens, "a limit of the preset's own");
}

#[test]
fn another_window_than_the_presets_has_none_of_its_slices_and_bursts() {
    let of = |window: &str| {
        let own = format!(
            r#"{{"requests_per_minute": 1, "tokens_per_minute": 1, "token_charge": "prompt",
                "window": "{window}"}}"#
        );
        taken_over(&own, PRESET)
    };

    assert_eq!(of("sliding"), ["output_weight", "overdraft"]);
    assert_eq!(
        of("fixed_minute"),
        [
            "burst_requests",
            "burst_tokens",
            "output_weight",
            "overdraft",
            "request_slice_s"
        ]
    );
}

#[test]
fn another_charge_than_the_presets_has_none_of_its_reservations() {
    let of = |charge: &str| {
        let own = format!(r#"{{"tokens_per_minute": 1, "token_charge": "{charge}"}}"#);
        let mut keys = taken_over(&own, PRESET);
        keys.retain(|key| key == "settles" || key == "unset_max_tokens");
        keys
    };

    assert_eq!(of("prompt_and_max_tokens"), ["settles", "unset_max_tokens"]);
    assert!(of("larger_of_prompt_and_max_tokens").is_empty());
}

#[test]
fn each_limit_is_enough_alone_and_what_is_no_limit_is_not() {
    for limit in [
        r#"{"requests_per_minute": 1}"#,
        r#"{"tokens_per_minute": 1}"#,
        r#"{"output_tokens_per_minute": 1}"#,
        r#"{"requests_per_day": 1}"#,
        r#"{"slope": {"window_s": 1, "growth": 2, "free_requests": 1}}"#,
    ] {
        assert!(spec(limit).limits_anything(), "{limit}");
    }
    assert!(!spec(PRESET).limits_anything());
}

/// The key that is refused, if one is.
fn refused(keys: &str) -> Option<String> {
    let checked = spec(&format!("{{{keys}}}")).check_keys(&Place::default());
    let error = checked.err()?.to_string();
    let mut parts = error.split('`');
    parts.nth(1).map(str::to_owned)
}

#[test]
fn a_key_is_accepted_beside_what_it_belongs_to() {
    for keys in [
        r#""requests_per_minute": 9, "request_slice_s": 10"#,
        r#""requests_per_minute": 9, "request_slice_s": 10, "window": "sliding""#,
        r#""requests_per_minute": 9, "burst_requests": 3, "window": "token_bucket""#,
        r#""tokens_per_minute": 9, "burst_tokens": 3, "window": "token_bucket""#,
        r#""requests_per_minute": 9, "tokens_per_minute": 9, "window": "token_bucket""#,
        r#""tokens_per_minute": 9, "token_charge": "prompt""#,
        r#""tokens_per_minute": 9, "output_weight": 5"#,
        r#""tokens_per_minute": 9, "overdraft": false"#,
        r#""tokens_per_minute": 9, "token_charge": "prompt_and_max_tokens", "settles": true"#,
        r#""tokens_per_minute": 9, "token_charge": "larger_of_prompt_and_max_tokens",
            "unset_max_tokens": 3"#,
        r#""output_tokens_per_minute": 9, "output_charge": "answer""#,
        r#""requests_per_day": 9, "day_starts_utc_h": 3"#,
        r#""requests_per_day": 9"#,
    ] {
        assert_eq!(refused(keys), None, "{keys}");
    }
}

#[test]
fn a_key_is_refused_where_it_would_be_without_effect() {
    let by_charge = r#""tokens_per_minute": 9, "token_charge": "prompt""#;
    for (keys, key) in [
        (
            r#""requests_per_minute": 9, "request_slice_s": 3, "window": "token_bucket""#,
            "request_slice_s",
        ),
        (
            r#""tokens_per_minute": 9, "request_slice_s": 3"#,
            "request_slice_s",
        ),
        (
            r#""requests_per_minute": 9, "burst_requests": 3"#,
            "burst_requests",
        ),
        (
            r#""tokens_per_minute": 9, "burst_requests": 3, "window": "token_bucket""#,
            "burst_requests",
        ),
        (
            r#""tokens_per_minute": 9, "burst_tokens": 3"#,
            "burst_tokens",
        ),
        (
            r#""requests_per_minute": 9, "burst_tokens": 3, "window": "token_bucket""#,
            "burst_tokens",
        ),
        (
            r#""requests_per_minute": 9, "token_charge": "prompt""#,
            "token_charge",
        ),
        (
            r#""requests_per_minute": 9, "output_weight": 5"#,
            "output_weight",
        ),
        (
            r#""requests_per_minute": 9, "overdraft": true"#,
            "overdraft",
        ),
        (&format!(r#"{by_charge}, "settles": true"#), "settles"),
        (
            &format!(r#"{by_charge}, "unset_max_tokens": 3"#),
            "unset_max_tokens",
        ),
        (
            r#""tokens_per_minute": 9, "output_charge": "answer""#,
            "output_charge",
        ),
        (
            r#""tokens_per_minute": 9, "day_starts_utc_h": 3"#,
            "day_starts_utc_h",
        ),
    ] {
        assert_eq!(refused(keys).as_deref(), Some(key), "{keys}");
    }
}
