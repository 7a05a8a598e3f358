//! Every command that gives out results gives the same bytes: asked again, on one, two or eight threads,
//! and by another build. `ROUTELAB_OTHER_BUILD` names the command of another one; `.ci/run determinism`
//! has the optimised one compared with the one under test.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{FLAKY, Folder, TINY};

/// Whose results `sim/tests/determinism` pins.
const EVERYTHING: &str = include_str!("../determinism/everything.yaml");

const RETRIES: &str = "
model_list:
  - {model_name: chat, litellm_params: {model: openai/a}, model_info: {id: good}}
  - {model_name: chat, litellm_params: {model: openai/b}, model_info: {id: bad}}
router_settings: {num_retries: 2, cooldown_time: 5}
";

/// What a command left: its code, what it printed, and its files by name.
#[derive(PartialEq)]
struct Results {
    code: Option<i32>,
    stdout: String,
    files: BTreeMap<PathBuf, Vec<u8>>,
}

/// Does commands one after the other in a folder of their own.
fn results(program: &Path, folder: &str, commands: &[Vec<&str>]) -> Results {
    let folder = Folder::new(folder)
        .with("tiny.yaml", TINY)
        .with("flaky.yaml", FLAKY)
        .with("everything.yaml", EVERYTHING)
        .with("retries.yaml", RETRIES)
        .with(
            "none.yaml",
            &RETRIES.replace("num_retries: 2", "num_retries: 0"),
        );
    let mut left = Results {
        code: None,
        stdout: String::new(),
        files: BTreeMap::new(),
    };
    for arguments in commands {
        let output = Command::new(program)
            .args(arguments)
            .current_dir(folder.path(""))
            .env_remove("COLUMNS")
            .env("NO_COLOR", "1")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        left.code = output.status.code();
        left.stdout += std::str::from_utf8(&output.stdout).unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(matches!(left.code, Some(0 | 1)), "{arguments:?}: {told}");
    }
    collect(&folder.path(""), &folder.path(""), &mut left.files);
    left
}

fn collect(root: &Path, folder: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(root, &path, files);
        } else {
            let name = path.strip_prefix(root).unwrap().to_owned();
            files.insert(name, fs::read(&path).unwrap());
        }
    }
}

/// Holds what commands leave to being the same each time. `{jobs}` stands for a number of threads.
fn hold(name: &str, least_files: usize, commands: &[&[&str]]) {
    let program = Path::new(env!("CARGO_BIN_EXE_routelab"));
    let other = std::env::var_os("ROUTELAB_OTHER_BUILD");
    let other = other.as_deref().map(Path::new);
    let mut ways = vec![
        (program, "1", "on one thread"),
        (program, "2", "on two threads"),
        (program, "2", "on two threads again"),
        (program, "8", "on eight threads"),
    ];
    ways.extend(other.map(|other| (other, "2", "in another build")));
    let mut first: Option<Results> = None;
    for (way, (program, jobs, told)) in ways.into_iter().enumerate() {
        let given = commands.iter().map(|arguments| {
            let each = arguments.iter();
            each.map(|&a| if a == "{jobs}" { jobs } else { a })
                .collect()
        });
        let given: Vec<Vec<&str>> = given.collect();
        let found = results(program, &format!("same-{name}-{way}"), &given);
        // The five that were there before.
        assert!(
            found.files.len() >= 5 + least_files,
            "{:?}",
            found.files.keys()
        );
        assert!(!found.stdout.is_empty(), "{name} prints something");
        let Some(first) = &first else {
            first = Some(found);
            continue;
        };
        assert_eq!(first.code, found.code, "{name} {told}");
        assert_eq!(first.stdout, found.stdout, "{name} {told}");
        let names = |results: &Results| results.files.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(first), names(&found), "{name} {told}");
        for (file, bytes) in &first.files {
            let same = found.files[file] == *bytes;
            assert!(same, "{name} {told}: {} differs", file.display());
        }
    }
}

#[test]
fn a_run_with_a_little_of_everything() {
    let run = [
        "run",
        "everything.yaml",
        "--jobs",
        "{jobs}",
        "--format",
        "json",
    ];
    hold(
        "everything",
        6,
        &[&[&run[..], &["--out", "everything"]].concat()],
    );
}

#[test]
fn run_with_its_logs_and_the_bound_by_hindsight() {
    let logs = ["--spend-log", "spend.csv", "--journal", "journal.jsonl"];
    let run = [
        "run",
        "tiny.yaml",
        "--jobs",
        "{jobs}",
        "--requests",
        "requests.jsonl",
    ];
    let bound = [
        "run",
        "flaky.yaml",
        "--hindsight",
        "--jobs",
        "{jobs}",
        "--out",
        "bound",
    ];
    hold(
        "run",
        10,
        &[
            &[&run[..], &logs].concat(),
            &bound,
            &["replay", "journal.jsonl"],
        ],
    );
}

#[test]
fn sweep_and_compare() {
    let axes = [
        "--only",
        "--axis",
        "routing_strategy=simple-shuffle,least-busy",
    ];
    let sweep = ["sweep", "tiny.yaml", "--jobs", "{jobs}", "--format", "json"];
    let compare = [
        "compare",
        "flaky.yaml",
        "--arm",
        "num_retries=0",
        "--arm",
        "num_retries=2",
    ];
    let more = ["--jobs", "{jobs}", "--out", "compared"];
    hold(
        "sweep",
        8,
        &[
            &[&sweep[..], &axes].concat(),
            &[&compare[..], &more].concat(),
        ],
    );
}

#[test]
fn tune_and_its_patch() {
    let tune = [
        "tune",
        "flaky.yaml",
        "--config",
        "none.yaml",
        "--candidates",
        "12",
        "--proof-reps",
        "8",
        "--max-reps",
        "8",
        "--objective",
        "maximize success; attempts <= +30%",
        "--knob",
        "num_retries=0,1,2",
        "--knob",
        "cooldown_time=1,5,30",
        "--patch",
        "better.yaml",
        "--jobs",
        "{jobs}",
    ];
    hold("tune", 5, &[&tune]);
}

#[test]
fn plan() {
    let plan = [
        "plan",
        "flaky.yaml",
        "--config",
        "retries.yaml",
        "--slo",
        "success >= 90%",
        "--load",
        "1,2",
        "--max-reps",
        "10",
        "--jobs",
        "{jobs}",
    ];
    hold("plan", 4, &[&plan]);
}

#[test]
fn gate() {
    let configs = [
        "gate",
        "flaky.yaml",
        "--config",
        "none.yaml",
        "--against",
        "retries.yaml",
    ];
    let out = [
        "--junit",
        "gate.xml",
        "--summary",
        "gate.md",
        "--json",
        "gate.json",
        "--jobs",
        "{jobs}",
    ];
    hold("gate", 3, &[&[&configs[..], &out].concat()]);
}

#[test]
fn probe() {
    let probe = [
        "probe",
        "flaky.yaml",
        "--reps",
        "10",
        "--watch",
        "60",
        "--step",
        "50",
        "--jobs",
        "{jobs}",
    ];
    hold("probe", 4, &[&probe]);
}

#[test]
fn calibrate_and_explain() {
    let log = [
        "run",
        "flaky.yaml",
        "--no-report",
        "--jobs",
        "{jobs}",
        "--spend-log",
        "spend.csv",
    ];
    let why = ["explain", "flaky.yaml"];
    let story = [
        "explain",
        "flaky.yaml",
        "--first",
        "retried",
        "--out",
        "story.html",
        "--set",
        "num_retries=2",
    ];
    hold(
        "calibrate",
        4,
        &[&log, &["calibrate", "spend.csv"], &why, &story],
    );
}
