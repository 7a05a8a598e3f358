//! `routelab replay`, and the journals that other commands write.

use super::*;

#[test]
fn the_journal_of_a_run_is_replayed_to_the_same_decisions() {
    let folder = Folder::new("replay").with("tiny.yaml", TINY);
    let written = folder.routelab(&["run", "tiny.yaml", "--no-report", "--journal", "run.jsonl"]);
    assert_eq!(written.code, Some(0), "{}", written.stderr);
    assert!(written.stderr.contains("journal: run.jsonl"));

    let left = folder.routelab(&["replay", "run.jsonl"]);

    assert_eq!((left.code, left.stderr.as_str()), (Some(0), ""));
    assert!(
        left.stdout.starts_with("All ") && left.stdout.contains(" decisions are the same: "),
        "{}",
        left.stdout
    );
}

#[test]
fn the_first_other_decision_is_told_with_its_line_and_both_sides() {
    let folder = Folder::new("replay-changed").with("tiny.yaml", TINY);
    folder.routelab(&["run", "tiny.yaml", "--no-report", "--journal", "run.jsonl"]);
    let text = folder.read("run.jsonl");
    let changed = text.replacen("\"send\":{\"deployment\":", "\"send\":{\"deployment\":3", 1);
    fs::write(folder.path("run.jsonl"), changed).unwrap();

    let left = folder.routelab(&["replay", "run.jsonl"]);

    assert_eq!(left.code, Some(1), "{}", left.stderr);
    let line = text
        .lines()
        .position(|line| line.contains("\"send\""))
        .unwrap()
        + 1;
    assert!(
        left.stdout.starts_with(&format!("Line {line}, at ")),
        "{}",
        left.stdout
    );
    assert!(
        left.stdout
            .contains("\n  journal  {\"send\":{\"deployment\":3")
    );
    assert!(
        left.stdout
            .contains("\n  replay   {\"send\":{\"deployment\":")
    );
}

#[test]
fn a_journal_that_a_crash_cut_off_is_replayed_up_to_there() {
    let folder = Folder::new("replay-cut").with("tiny.yaml", TINY);
    folder.routelab(&["run", "tiny.yaml", "--no-report", "--journal", "run.jsonl"]);
    let text = folder.read("run.jsonl");
    fs::write(folder.path("run.jsonl"), &text[..text.len() / 2]).unwrap();

    let left = folder.routelab(&["replay", "run.jsonl"]);

    assert_eq!(left.code, Some(0), "{}", left.stderr);
    assert!(
        left.stderr.contains("breaks off, as by a crash"),
        "{}",
        left.stderr
    );
}

#[test]
fn what_is_no_journal_is_told() {
    let folder = Folder::new("replay-wrong")
        .with("tiny.yaml", TINY)
        .with("empty.jsonl", "");
    for (file, says) in [
        ("none.jsonl", "none.jsonl: it cannot be read"),
        ("empty.jsonl", "it is empty: expected a head"),
        ("tiny.yaml", "expected a head"),
    ] {
        let told = told(&folder, &["replay", file]);
        assert!(told.contains(says), "{told}");
    }
}

#[test]
fn a_journal_that_cannot_be_written_is_told_before_anything_is_run() {
    let folder = Folder::new("journal-nowhere").with("tiny.yaml", TINY);
    for command in ["run", "live"] {
        let arguments = [
            command,
            "tiny.yaml",
            "--no-report",
            "--journal",
            "no/run.jsonl",
        ];
        let told = told(&folder, &arguments);
        assert!(told.contains("cannot write no/run.jsonl"), "{told}");
    }
}
