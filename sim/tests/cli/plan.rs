//! A capacity plan: what it tells and writes, how it ends, and what it refuses.

use crate::{Folder, Left, told};

/// Two deployments whose providers let through 120 requests a minute each; 3 a second come.
const TIGHT: &str = "
purpose: How many deployments does a growing load need?
kind: steady
litellm:
  model_list:
    - {model_name: chat, litellm_params: {model: openai/a}, model_info: {id: first}}
    - {model_name: chat, litellm_params: {model: openai/b}, model_info: {id: second}}
providers:
  default:
    latency: {first_token: {constant: {ms: 100}}}
    quota: {requests_per_minute: 120}
workload:
  arrivals: {constant: {per_second: 3}}
  lengths: {prompt: {constant: 10}, output: {constant: 5}}
  duration_s: 120
";

fn folder(name: &str) -> Folder {
    Folder::new(name).with("tight.yaml", TIGHT)
}

fn plan(folder: &Folder, more: &[&str]) -> Left {
    let start = [
        "plan",
        "tight.yaml",
        "--slo",
        "success >= 99%",
        "--max-reps",
        "10",
    ];
    folder.routelab(&[&start[..], more].concat())
}

#[test]
fn a_quota_is_sized_by_arithmetic_where_arithmetic_is_enough() {
    let folder = folder("plan-arithmetic");

    // 9 a second are 540 a minute: 5 of 120 hold 600, 4 hold 480. With one out, one more.
    let left = plan(&folder, &["--load", "1,3"]);

    assert_eq!(left.code, Some(0), "{}{}", left.stdout, left.stderr);
    let first = left.stdout.lines().next().unwrap_or_default();
    assert_eq!(
        first,
        "For 3× today's load with any one deployment out, group `chat` needs 6 deployments (now 2)."
    );
    assert!(
        left.stdout
            .contains("First bottleneck: the providers' requests_per_minute"),
        "{}",
        left.stdout
    );
    let rows: Vec<Vec<&str>> = left
        .stdout
        .lines()
        .filter(|line| line.starts_with("  ") && line.contains(" out") && !line.contains('█'))
        .map(|line| {
            line.split("  ")
                .map(str::trim)
                .filter(|cell| !cell.is_empty())
                .collect()
        })
        .collect();
    let sizes: Vec<&str> = rows.iter().map(|row| row[2]).collect();
    assert_eq!(sizes, ["2", "3", "5", "6"], "{}", left.stdout);
    let bars = left
        .stdout
        .split("Deployments of `chat` that each load needs")
        .nth(1);
    let bars: Vec<&str> = bars.unwrap_or_default().lines().skip(1).collect();
    assert_eq!(
        bars.len(),
        5,
        "now, and each load with what is out: {bars:?}"
    );
    assert!(bars[4].ends_with("████ 6"), "{bars:?}");
    let page = folder.read("routelab-report/index.html");
    assert!(page.contains("What is needed"), "the table is on the page");
    assert!(folder.path("routelab-report/plots/capacity.svg").exists());
}

#[test]
fn the_same_plan_ends_the_same_on_any_number_of_threads() {
    let folder = folder("plan-same");
    let on = |jobs: &str| {
        let more = [
            "--no-report",
            "--load",
            "2.5",
            "--jobs",
            jobs,
            "--format",
            "json",
        ];
        let left = plan(&folder, &more);
        assert_eq!(left.code, Some(0), "{}", left.stderr);
        left.stdout
    };

    let one = on("1");
    assert_eq!(one, on("3"));
    let json: serde_json::Value = serde_json::from_str(&one).unwrap();
    assert_eq!(json["plan"]["lines"][0]["sizes"][0], 4);
}

#[test]
fn a_quota_can_be_sized_in_place_of_deployments() {
    let folder = folder("plan-quota");

    // 540 a minute are 2.25 times what two deployments of 120 let through.
    let more = [
        "--no-report",
        "--load",
        "3",
        "--outage",
        "none",
        "--size",
        "quota",
    ];
    let left = plan(&folder, &more);

    assert_eq!(left.code, Some(0), "{}{}", left.stdout, left.stderr);
    let needs = "group `chat` needs 2.3× the present quota (now 1.0×)";
    assert!(left.stdout.contains(needs), "{}", left.stdout);
}

#[test]
fn where_no_size_is_enough_the_plan_says_so_and_ends_with_3() {
    let folder = folder("plan-none");
    let one_provider = TIGHT.replace("default:", "default:\n    fleet: only");
    let folder = folder.with("one.yaml", &one_provider);

    let small = plan(&folder, &["--no-report", "--load", "3", "--most", "4"]);
    let provider = folder.routelab(&[
        "plan",
        "one.yaml",
        "--no-report",
        "--load",
        "1",
        "--outage",
        "provider",
        "--most",
        "4",
        "--max-reps",
        "10",
    ]);

    assert_eq!(small.code, Some(3), "{}", small.stderr);
    assert!(
        small
            .stdout
            .contains("no size of `chat` up to 4 deployments"),
        "{}",
        small.stdout
    );
    assert_eq!(provider.code, Some(3), "{}", provider.stderr);
    assert!(
        provider.stdout.contains("all with one provider"),
        "{}",
        provider.stdout
    );
}

#[test]
fn a_growth_and_a_ticket_are_markdown() {
    let folder = folder("plan-growth");

    let left = plan(
        &folder,
        &[
            "--no-report",
            "--growth",
            "50%/quarter",
            "--for",
            "2",
            "--outage",
            "none",
            "--format",
            "markdown",
        ],
    );

    assert_eq!(left.code, Some(0), "{}", left.stderr);
    assert!(
        left.stdout
            .contains("| Load | Out | chat: deployments (now 2) |"),
        "{}",
        left.stdout
    );
    assert!(
        left.stdout
            .contains("| 2.25× (quarter 2) | nothing out | 4 |"),
        "{}",
        left.stdout
    );
}

#[test]
fn every_group_that_is_asked_for_is_sized_by_its_own_requests() {
    let two = TIGHT
        .replace(
            "providers:",
            "    - {model_name: code, litellm_params: {model: openai/c}, model_info: {id: third}}\nproviders:",
        )
        .replace("  duration_s", "  models: {chat: 3, code: 1}\n  duration_s");
    let folder = Folder::new("plan-groups").with("tight.yaml", &two);

    // 18 a second: 810 a minute for chat and 270 for code.
    let left = plan(&folder, &["--no-report", "--load", "6", "--outage", "none"]);

    assert_eq!(left.code, Some(0), "{}{}", left.stdout, left.stderr);
    let needs =
        "group `chat` needs 7 deployments (now 2), group `code` needs 3 deployments (now 1)";
    assert!(left.stdout.contains(needs), "{}", left.stdout);
}

#[test]
fn a_further_scenario_must_be_survived_as_well() {
    let busy = TIGHT.replace("per_second: 3", "per_second: 6");
    let other = TIGHT.replace("chat", "code");
    let folder = folder("plan-also")
        .with("busy.yaml", &busy)
        .with("other.yaml", &other);
    let more = ["--no-report", "--load", "1", "--outage", "none", "--also"];

    let left = plan(&folder, &[&more[..], &["busy.yaml"]].concat());
    let wrong = plan(&folder, &[&more[..], &["other.yaml"]].concat());
    let twice = plan(&folder, &[&more[..], &["tight.yaml"]].concat());

    // 360 a minute are 3 of 120, and a fourth where the minute's edge is met.
    assert_eq!(left.code, Some(0), "{}", left.stderr);
    assert!(
        left.stdout.contains("group `chat` needs 4 deployments")
            || left.stdout.contains("group `chat` needs 3 deployments"),
        "{}",
        left.stdout
    );
    assert!(
        wrong.stderr.contains("asks for the group `code`"),
        "{}",
        wrong.stderr
    );
    assert!(
        twice.stderr.contains("is there already"),
        "{}",
        twice.stderr
    );
}

#[test]
fn what_makes_no_sense_is_told_before_anything_is_run() {
    let folder = folder("plan-broken").with("config.yaml", "model_list: 3\n");
    let asked = |more: &[&str]| told(&folder, &[&["plan", "tight.yaml"], more].concat());

    assert!(asked(&["--slo", "sucess >= 99%"]).contains("did you mean `success`?"));
    assert!(asked(&["--slo", ""]).contains("nothing is asked for"));
    assert!(asked(&["--slo", "attempts <= +5%"]).contains("is relative"));
    assert!(asked(&["--slo", "goodput >= 99%"]).contains("has no value"));
    assert!(asked(&["--load", "1,fast"]).contains("`fast` is no number"));
    assert!(asked(&["--load", "2,2"]).contains("appears twice"));
    assert!(asked(&["--growth", "10%/month"]).contains("--for"));
    assert!(asked(&["--for", "3"]).contains("--growth"));
    assert!(asked(&["--growth", "10/month", "--for", "3"]).contains("no percentage"));
    assert!(asked(&["--confidence", "95"]).contains("0.5 to 0.9999"));
    assert!(asked(&["--reps", "5"]).contains("--max-reps"));
    assert!(asked(&["--most", "1"]).contains("2 deployments at present"));
    assert!(asked(&["--format", "csv"]).contains("console, markdown or json"));
    assert!(asked(&["--outage", "region"]).contains("possible values"));
    assert!(asked(&["--config", "config.yaml"]).contains("model_list"));
    let free = TIGHT.replace("    quota: {requests_per_minute: 120}\n", "");
    let folder = Folder::new("plan-no-quota").with("free.yaml", &free);
    let left = told(&folder, &["plan", "free.yaml", "--size", "quota"]);
    assert!(
        left.contains("have no limit that could be raised"),
        "{left}"
    );
}
