//! A search for settings: what it tells and what it writes.

use crate::{FLAKY, Folder, Left, told};

const CONFIG: &str = "# ours
model_list:
  - {model_name: chat, litellm_params: {model: openai/a}, model_info: {id: good}}
  - {model_name: chat, litellm_params: {model: openai/b}, model_info: {id: bad}} # cheap
router_settings:
  num_retries: 0   # folklore
  retry_after: 0
";

fn folder(name: &str) -> Folder {
    Folder::new(name)
        .with("tiny.yaml", FLAKY)
        .with("config.yaml", CONFIG)
}

/// A small search; what follows says more of it.
const TUNE: [&str; 10] = [
    "tune",
    "tiny.yaml",
    "--config",
    "config.yaml",
    "--candidates",
    "30",
    "--proof-reps",
    "8",
    "--max-reps",
    "8",
];

fn tune(folder: &Folder, more: &[&str]) -> Left {
    folder.routelab(&[&TUNE[..], more].concat())
}

#[test]
fn the_answer_is_told_proved_and_written_into_the_config() {
    let folder = folder("tune-answer");

    let left = tune(
        &folder,
        &[
            "--objective",
            "maximize success; attempts <= +20%",
            "--knob",
            "num_retries=0,1,2,4",
            "--knob",
            "cooldown_time=1,5,30",
            "--patch",
            "better.yaml",
        ],
    );

    assert_eq!(left.code, Some(0), "{}{}", left.stdout, left.stderr);
    assert!(left.stdout.starts_with("Use "), "{}", left.stdout);
    assert!(left.stdout.contains("num_retries: "), "{}", left.stdout);
    assert!(left.stdout.contains("Attempts at most"), "{}", left.stdout);
    let picture = "(across): A is advised, P the present settings";
    assert!(left.stdout.contains(picture), "{}", left.stdout);
    let patched = folder.read("better.yaml");
    assert!(patched.starts_with("# ours\n"), "{patched}");
    assert!(
        patched.contains("# folklore") && patched.contains("# cheap"),
        "{patched}"
    );
    assert!(!patched.contains("num_retries: 0 "), "{patched}");
    assert_eq!(folder.read("config.yaml"), CONFIG);
    let page = folder.read("routelab-report/index.html");
    assert!(
        page.contains("<p class=\"lead\">Use "),
        "the finding leads the page"
    );
}

#[test]
fn a_limit_that_does_not_hold_under_the_advice_ends_with_one() {
    let folder = folder("tune-limit");
    let asked = |limit: &str| {
        let objective = format!("maximize success; p50 <= {limit}");
        let knob = ["--no-report", "--knob", "num_retries=0,1,2"];
        tune(&folder, &[&["--objective", &objective], &knob[..]].concat())
    };

    // Every answer takes 200 ms.
    let (broken, kept) = (asked("0.1s"), asked("5s"));

    assert_eq!(broken.code, Some(1), "{}{}", broken.stdout, broken.stderr);
    assert!(broken.stdout.contains("DOES NOT HOLD"), "{}", broken.stdout);
    assert_eq!(kept.code, Some(0), "{}{}", kept.stdout, kept.stderr);
    assert!(kept.stdout.contains(" holds: "), "{}", kept.stdout);
}

#[test]
fn settings_that_nothing_beats_are_kept() {
    let folder = folder("tune-kept");

    let left = tune(
        &folder,
        &[
            "--no-report",
            "--knob",
            "polling_interval=0.003,0.01",
            "--patch",
            "better.yaml",
        ],
    );

    assert_eq!(left.code, Some(0), "{}", left.stderr);
    assert!(
        left.stdout.starts_with("Keep the present settings"),
        "{}",
        left.stdout
    );
    assert!(!folder.path("better.yaml").exists());
}

#[test]
fn several_scenarios_count_by_their_weights() {
    let calm = FLAKY.replace("share: 0.2", "share: 0.01");
    let folder = folder("tune-several").with("calm.yaml", &calm);
    let knob = ["--no-report", "--knob", "num_retries=0,2"];

    let left = tune(&folder, &[&knob[..], &["--also", "calm.yaml=3"]].concat());
    let wrong = tune(
        &folder,
        &[&knob[..], &["--also", "calm.yaml=none"]].concat(),
    );

    assert!(
        left.stdout
            .contains("of tiny.yaml and calm.yaml (weight 3)."),
        "{}",
        left.stdout
    );
    assert_eq!(wrong.code, Some(2));
    assert!(
        wrong.stderr.contains("its weight is no number above 0"),
        "{}",
        wrong.stderr
    );
}

#[test]
fn what_cannot_be_tuned_is_told_before_anything_is_run() {
    let folder = folder("tune-wrong");
    let told = |more: &[&str]| told(&folder, &[&TUNE[..], more].concat());

    assert!(told(&["--objective", "maximize godput"]).contains("did you mean `goodput`?"));
    assert!(told(&["--knob", "num_retries="]).contains("has no values"));
    assert!(told(&["--knob", "num_retries=some"]).contains("--knob num_retries: some: "));
    assert!(told(&["--patch", "config.yaml"]).contains("would overwrite the config"));
    assert!(
        told(&["--patch", "b.yaml", "--knob", "workload.duration_s=10,20"])
            .contains("is no setting of a config")
    );
    assert!(told(&["--knob", "num_retries=0"]).contains("nothing to choose from"));
    assert!(!folder.path("routelab-report").exists());
}

#[test]
fn an_answer_is_told_though_the_config_cannot_be_patched_and_no_file_is_named_that_is_not_there() {
    let shared = CONFIG.replace(
        "num_retries: 0 ",
        "num_retries: &none 0\n  allowed_fails: *none ",
    );
    let folder = folder("tune-unpatched").with("config.yaml", &shared);

    let left = tune(
        &folder,
        &["--knob", "num_retries=0,1,2,4", "--patch", "better.yaml"],
    );

    assert_eq!(left.code, Some(2), "{}{}", left.stdout, left.stderr);
    assert!(
        left.stdout.starts_with("Use num_retries: "),
        "{}",
        left.stdout
    );
    assert!(!left.stdout.contains("better.yaml"), "{}", left.stdout);
    assert!(
        left.stderr.contains("the config cannot be patched: "),
        "{}",
        left.stderr
    );
    let told: Vec<&str> = left.stderr.split_whitespace().collect();
    assert!(
        told.join(" ").contains("make these changes by hand"),
        "{}",
        left.stderr
    );
    assert!(told.contains(&"num_retries:"), "{}", left.stderr);
    assert!(!folder.path("better.yaml").exists());
}

#[test]
fn a_patch_holds_what_was_set_and_settings_below_settings() {
    let folder = folder("tune-patch-sets");

    let left = tune(
        &folder,
        &[
            "--no-report",
            "--set",
            "timeout=40",
            "--set",
            "workload.duration_s=20",
            "--knob",
            "retry_policy.InternalServerErrorRetries=0,4",
            "--patch",
            "better.yaml",
        ],
    );

    assert_eq!(left.code, Some(0), "{}{}", left.stdout, left.stderr);
    let patched = folder.read("better.yaml");
    assert!(patched.contains("  timeout: 40\n"), "{patched}");
    assert!(
        patched.contains("InternalServerErrorRetries: 4"),
        "{patched}"
    );
    assert!(!patched.contains("duration_s"), "{patched}");
}

#[test]
fn what_has_no_value_is_told_before_the_search_and_no_reason_to_keep_the_settings() {
    let aimless = FLAKY.replace("slo: {latency_s: 1}\n", "");
    let folder = folder("tune-unknown").with("tiny.yaml", &aimless);

    let goodput = tune(&folder, &[]);
    let cost = tune(&folder, &["--objective", "minimize p99; cost <= +3%"]);

    assert_eq!((goodput.code, cost.code), (Some(2), Some(2)));
    assert!(
        goodput
            .stderr
            .contains("goodput is unknown in tiny.yaml: it has no slo"),
        "{}",
        goodput.stderr
    );
    assert!(cost.stderr.contains("--prices"), "{}", cost.stderr);
    assert!(goodput.stdout.is_empty() && cost.stdout.is_empty());
}

#[test]
fn a_program_gets_the_answer_as_json_and_other_formats_are_refused() {
    let folder = folder("tune-json");
    let of = |format| {
        tune(
            &folder,
            &[
                "--no-report",
                "--knob",
                "num_retries=0,2",
                "--format",
                format,
            ],
        )
    };

    let json: serde_json::Value = serde_json::from_str(&of("json").stdout).unwrap();
    assert_eq!(json["changes"][0]["path"], "num_retries");
    assert_eq!(json["candidates"][0]["metrics"][0]["name"], "goodput_ratio");
    assert!(json["probability"].is_number() && json["advice"].is_string());
    for format in ["csv", "markdown"] {
        let left = of(format);
        assert_eq!(left.code, Some(2));
        assert!(
            left.stderr.contains("console or json only"),
            "{}",
            left.stderr
        );
    }
}

#[test]
fn the_present_settings_and_a_bound_that_is_left_out_are_told() {
    let folder = folder("tune-present");

    let left = tune(&folder, &["--no-report", "--knob", "num_retries=0,2"]);

    assert!(
        left.stdout.contains("\nPresent: num_retries 0.\n"),
        "{}",
        left.stdout
    );
    assert!(
        left.stdout.contains("its bound is left out"),
        "{}",
        left.stdout
    );
}

#[test]
fn what_is_given_twice_is_refused() {
    let folder = folder("tune-twice");
    let told = |more: &[&str]| told(&folder, &[&TUNE[..], more].concat());
    let both = [
        "--knob",
        "timeout=1,2",
        "--knob",
        "router_settings.timeout=3",
    ];

    assert!(told(&both).contains("is given twice"));
    assert!(told(&["--knob", "timeout=1,1.0"]).contains("appears twice"));
    assert!(told(&["--also", "tiny.yaml=2"]).contains("is there already"));
}
