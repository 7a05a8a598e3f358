//! What runs print and write, and how they end.

use std::io;

use crate::{Folder, TINY};

#[test]
fn without_a_command_the_bundled_scenario_runs_and_a_report_is_there() {
    let folder = Folder::new("no-arguments");

    let left = folder.routelab(&[]);

    assert_eq!(left.code, Some(0), "{}", left.stderr);
    assert!(left.stdout.starts_with("main: "), "{}", left.stdout);
    let page = folder.read("routelab-report/index.html");
    assert!(page.contains("<svg") && page.contains("routelab run main"));
}

#[test]
fn a_report_has_all_of_its_files_and_nothing_beside_it() {
    let folder = Folder::new("files").with("tiny.yaml", TINY);

    let left = folder.routelab(&["run", "tiny.yaml", "--out", "deep/er/report"]);

    assert_eq!(left.code, Some(0), "{}", left.stderr);
    for file in [
        "index.html",
        "report.md",
        "results.csv",
        "results.json",
        "runs.csv",
    ] {
        assert!(
            !folder.read(&format!("deep/er/report/{file}")).is_empty(),
            "{file}"
        );
    }
    assert!(folder.path("deep/er/report/results.parquet").is_file());
    let beside: Vec<_> = folder.path("deep/er").read_dir().unwrap().collect();
    assert_eq!(beside.len(), 1, "{beside:?}");
}

#[test]
fn a_new_report_takes_the_place_of_the_old_and_leaves_other_files_alone() {
    let folder = Folder::new("again").with("tiny.yaml", TINY);
    folder.routelab(&["run", "tiny.yaml"]);
    std::fs::write(folder.path("routelab-report/notes.txt"), "mine").unwrap();
    std::fs::write(folder.path("routelab-report/plots/of-yesterday.svg"), "old").unwrap();
    let before = folder.read("routelab-report/results.csv");

    let left = folder.routelab(&["run", "tiny.yaml", "--seed", "2"]);

    assert_eq!(left.code, Some(0));
    assert_ne!(before, folder.read("routelab-report/results.csv"));
    assert_eq!(folder.read("routelab-report/notes.txt"), "mine");
    assert!(
        !folder
            .path("routelab-report/plots/of-yesterday.svg")
            .exists()
    );
}

#[test]
fn standard_output_and_files_do_not_depend_on_the_number_of_threads() {
    let folder = Folder::new("threads").with("tiny.yaml", TINY);
    for format in ["console", "markdown", "csv", "json"] {
        let run = |jobs: &str| {
            let out = format!("report-{jobs}");
            let arguments = [
                "run",
                "tiny.yaml",
                "--format",
                format,
                "--jobs",
                jobs,
                "--out",
                out.as_str(),
            ];
            let left = folder.routelab(&arguments);
            assert_eq!(left.code, Some(0), "{}", left.stderr);
            (left.stdout, folder.read(&format!("{out}/index.html")))
        };

        let one = run("1");
        assert!(!one.0.is_empty());
        assert_eq!(one, run("2"), "{format} with 2 threads");
        assert_eq!(one, run("8"), "{format} with 8 threads");
    }
}

#[test]
fn no_report_writes_nothing() {
    let folder = Folder::new("no-report").with("tiny.yaml", TINY);

    let left = folder.routelab(&["run", "tiny.yaml", "--no-report", "--reps", "1"]);

    assert_eq!(left.code, Some(0));
    assert!(left.stdout.contains("num_retries"));
    assert_eq!(folder.path("").read_dir().unwrap().count(), 1);
}

#[test]
fn a_sweep_replaces_an_axis_adds_another_or_drops_them_all() {
    let folder = Folder::new("sweep").with("tiny.yaml", TINY);
    let arms = |arguments: &[&str]| {
        let mut all = vec!["sweep", "tiny.yaml", "--no-report", "--format", "json"];
        all.extend(arguments);
        let left = folder.routelab(&all);
        assert_eq!(left.code, Some(0), "{}", left.stderr);
        let json: serde_json::Value = serde_json::from_str(&left.stdout).unwrap();
        let arms = json["arms"].as_array().unwrap().iter();
        arms.map(|arm| arm["settings"].as_object().unwrap().len())
            .collect::<Vec<_>>()
    };

    assert_eq!(arms(&["--axis", "cooldown_time=1,2,3"]), [2; 6]);
    let strategies = "routing_strategy=simple-shuffle,least-busy";
    assert_eq!(arms(&["--axis", strategies]), [3; 8]);
    assert_eq!(
        arms(&["--only", "--axis", "workload.duration_s=10,20"]),
        [1; 2]
    );
}

#[test]
fn a_comparison_has_an_arm_for_each_setting_and_the_first_is_the_reference() {
    let folder = Folder::new("compare").with("tiny.yaml", TINY);

    let left = folder.routelab(&[
        "compare",
        "tiny.yaml",
        "--arm",
        "as-is",
        "--arm",
        "num_retries=3,cooldown_time=1",
    ]);

    assert_eq!(left.code, Some(0), "{}", left.stderr);
    assert!(
        left.stdout.contains("2 arms × 2 replications"),
        "{}",
        left.stdout
    );
    assert!(left.stdout.contains("Reference: as-is"), "{}", left.stdout);
    assert!(
        left.stdout.contains("  num_retries=3,cooldown_time=1  "),
        "{}",
        left.stdout
    );
    let page = folder.read("routelab-report/index.html");
    assert!(
        page.contains("routelab compare tiny.yaml --arm as-is --arm num_retries=3,cooldown_time=1")
    );
}

#[test]
fn two_configs_are_compared_on_the_same_traffic() {
    let config = |retries: u32| {
        format!(
            "model_list:\n  - {{model_name: chat, litellm_params: {{model: openai/a}}}}\n\
             router_settings: {{num_retries: {retries}}}\n"
        )
    };
    let folder = Folder::new("compare-configs")
        .with("a.yaml", &config(0))
        .with("b.yaml", &config(2));

    let left = folder.routelab(&[
        "compare",
        "baseline",
        "--config",
        "a.yaml",
        "--against",
        "b.yaml",
        "--reps",
        "2",
        "--format",
        "csv",
        "--no-report",
    ]);

    assert_eq!(left.code, Some(0), "{}", left.stderr);
    assert!(
        left.stdout.contains("a.yaml") && left.stdout.contains("b.yaml"),
        "{}",
        left.stdout
    );
}

#[test]
fn an_expectation_that_holds_fails_or_is_undecided_is_told_by_the_exit_code() {
    let expect = |bound: f64| {
        format!(
            "{TINY}expect:\n  - {{metric: success_ratio, at_least: {bound}, where: {{num_retries: 0}}}}\n"
        )
    };
    let folder = Folder::new("expect")
        .with("holds.yaml", &expect(0.5))
        .with("fails.yaml", &expect(0.999_999));

    let holds = folder.routelab(&["run", "holds.yaml", "--no-report"]);
    assert_eq!(holds.code, Some(0), "{}", holds.stdout);
    let fails = folder.routelab(&["run", "fails.yaml", "--no-report"]);
    assert_eq!(fails.code, Some(1), "{}", fails.stdout);
    assert!(
        fails
            .stdout
            .contains("fails         success_ratio at least 0.999999 at num_retries=0")
    );
}

#[test]
fn an_expectation_inside_the_interval_asks_for_more_replications() {
    // Two replications give an interval that is wide enough to hold nearly anything inside.
    let text = format!("{TINY}expect:\n  - {{metric: latency_p99_ms, at_most: 200.5}}\n");
    let text = text.replace(
        "{constant: {ms: 200}}",
        "{log_normal: {median_ms: 100, sigma: 0.3}}",
    );
    let folder = Folder::new("undecided").with("tiny.yaml", &text);

    let left = folder.routelab(&["run", "tiny.yaml", "--no-report"]);

    assert_eq!(left.code, Some(3), "{}", left.stdout);
    assert!(left.stdout.contains("inconclusive"));
}

#[test]
fn a_reader_that_leaves_is_no_failure() {
    let folder = Folder::new("closed-pipe").with("tiny.yaml", TINY);
    for arguments in [
        &["list"][..],
        &["schema"],
        &["run", "tiny.yaml"],
        &["--help"],
    ] {
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);

        let output = folder.command(arguments).stdout(writer).output().unwrap();

        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(
            !stderr.contains("panicked") && !stderr.contains('×'),
            "{stderr}"
        );
    }
    assert!(folder.path("routelab-report/index.html").is_file());
}

#[cfg(unix)]
#[test]
fn an_interrupt_keeps_finished_runs_and_marks_the_result_partial() {
    use std::{
        io::{BufRead as _, BufReader, Read as _},
        process::{Command, Stdio},
    };

    // A quarter of these runs is done when it is told; the signal comes long before the rest.
    let folder = Folder::new("interrupt").with("tiny.yaml", TINY);
    let mut child = folder
        .command(&["run", "tiny.yaml", "--reps", "1000", "--jobs", "1"])
        .args(["--set", "workload.duration_s=150"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut lines = String::new();
    while !lines.contains("25 % done") {
        assert!(stderr.read_line(&mut lines).unwrap() > 0, "{lines}");
    }
    assert_eq!(lines, "4000 runs on 1 thread\n25 % done\n");

    let killed = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    let mut rest = String::new();
    stderr.read_to_string(&mut rest).unwrap();

    assert_eq!(output.status.code(), Some(130), "{rest}");
    assert!(
        rest.ends_with("interrupted: the result is partial\n"),
        "{rest}"
    );
    let json: serde_json::Value =
        serde_json::from_str(&folder.read("routelab-report/results.json")).unwrap();
    assert_eq!(json["partial"], true);
    let kept = folder.read("routelab-report/runs.csv").lines().count() - 1;
    assert!((1_000..4_000).contains(&kept), "{kept} runs are kept");
}

#[test]
fn hindsight_is_shown_where_it_is_asked_for_and_bounded() {
    let folder = Folder::new("hindsight").with("tiny.yaml", TINY);
    let csv = |more: &[&str]| {
        let start = ["run", "tiny.yaml", "--no-report", "--format", "csv"];
        let left = folder.routelab(&[&start[..], more].concat());
        assert_eq!(left.code, Some(0), "{}", left.stderr);
        left
    };
    // Retries and share of each arm.
    let shares = |left: &crate::Left| {
        let rows = left.stdout.lines().map(|line| line.split(',').collect());
        let mut rows = rows.collect::<Vec<Vec<&str>>>().into_iter();
        let head = rows.next().unwrap();
        let column = |name: &str| head.iter().position(|title| *title == name).unwrap();
        let (metric, mean, retries) = (column("metric"), column("mean"), column("num_retries"));
        let rows = rows.filter(|row| row[metric] == "of_hindsight_ratio");
        let rows = rows.map(|row| (row[retries].to_owned(), row[mean].parse::<f64>().ok()));
        rows.collect::<Vec<_>>()
    };

    let (with, without) = (csv(&["--hindsight"]), csv(&[]));
    let unbounded = csv(&["--hindsight", "--set", "slo=null"]);

    // Nothing is short here, so whoever knows everything answers all of them.
    let with = shares(&with);
    assert_eq!(with.len(), 4, "{with:?}");
    for (retries, share) in with {
        let share = share.unwrap();
        match retries.as_str() {
            "0" => assert!((0.8..0.99).contains(&share), "{share}"),
            _ => assert!(share > 0.99 && share <= 1.0, "{share}"),
        }
    }
    assert!(shares(&without).iter().all(|(_, share)| share.is_none()));
    assert!(
        unbounded.stderr.contains("nothing is bounded"),
        "{}",
        unbounded.stderr
    );
}

#[test]
fn a_provider_that_hits_nobody_is_a_warning_in_console_page_and_json() {
    let config = "model_list:\n  - {model_name: chat, litellm_params: {model: openai/a}, model_info: {id: good}}\n";
    let folder = Folder::new("hits-nobody")
        .with("tiny.yaml", TINY)
        .with("config.yaml", config);

    let left = folder.routelab(&[
        "run",
        "tiny.yaml",
        "--config",
        "config.yaml",
        "--out",
        "report",
    ]);

    assert_eq!(left.code, Some(0), "{}", left.stderr);
    let doubt = "no deployment of this config matches. What it was to do, such as an outage, did not happen.";
    let (_, warned) = left.stdout.split_once("Before you rely on this").unwrap();
    let one_line = warned.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(one_line.contains(doubt), "{}", left.stdout);
    assert!(folder.read("report/index.html").contains(doubt));
    let json: serde_json::Value =
        serde_json::from_str(&folder.read("report/results.json")).unwrap();
    let warnings = json["warnings"].as_array().unwrap();
    assert!(
        warnings
            .iter()
            .any(|warning| warning.as_str().unwrap().ends_with(doubt)),
        "{warnings:?}"
    );
}

#[test]
fn the_scenarios_that_litellm_itself_is_driven_with_can_be_read() {
    let folder = Folder::new("fidelity");
    let scenarios = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fidelity/scenarios");
    let files: Vec<_> = std::fs::read_dir(scenarios).unwrap().collect();

    assert!(files.len() >= 8, "{}", files.len());
    for file in files {
        let path = file.unwrap().path();
        let left = folder.routelab(&["check", path.to_str().unwrap()]);
        assert_eq!(left.code, Some(0), "{}{}", left.stdout, left.stderr);
    }
}
