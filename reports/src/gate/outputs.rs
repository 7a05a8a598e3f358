//! A judged gate for people, for a pull request, for test dashboards and for programs.

use std::fmt::Write as _;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use serde_json::{Value, json};

use super::{Gate, GateRow, GateVerdict};
use crate::aligned::aligned;

/// For the terminal: a line for each metric, then the verdict.
#[must_use]
pub fn gate_text(gate: &Gate) -> String {
    let rows = gate.rows.iter().map(|row| cells(row).to_vec());
    let lines: Vec<Vec<String>> = [HEADER.map(str::to_owned).to_vec()]
        .into_iter()
        .chain(rows)
        .collect();
    let mut text = format!("Gate: {} against {}\n\n", gate.new, gate.old);
    for line in aligned(&lines) {
        let _ = writeln!(text, "  {line}");
    }
    for (asked, verdict) in &gate.expectations {
        let _ = writeln!(text, "  {:<12}  expect: {asked}", verdict.word());
    }
    for doubt in &gate.doubts {
        let _ = writeln!(text, "  doubt: {doubt}");
    }
    let _ = writeln!(text, "\n{}", conclusion(gate));
    text
}

/// For a pull request or a step's summary: the verdict, then a table. Well under 1 MiB.
#[must_use]
pub fn gate_markdown(gate: &Gate) -> String {
    let mut text = format!(
        "## Routing gate: {}\n\n{}\n\n`{}` against `{}`\n\n",
        gate.verdict().word(),
        conclusion(gate),
        escaped(&gate.new),
        escaped(&gate.old)
    );
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    text += &line(&HEADER.map(str::to_owned));
    text += &line(&HEADER.map(|_| "---".to_owned()));
    for row in &gate.rows {
        text += &line(&cells(row).map(|cell| escaped(&cell)));
    }
    for (asked, verdict) in &gate.expectations {
        let _ = writeln!(text, "\n- {}: expect {}", verdict.word(), escaped(asked));
    }
    for doubt in &gate.doubts {
        let _ = writeln!(text, "\n- doubt: {}", escaped(doubt));
    }
    text += "\nLoss: how much worse the new side is (negative: better), with the upper end of its \
             one-sided 95 % interval. p: chance of so large a loss if there were none, after \
             Holm's correction.\n";
    text
}

/// JUnit XML: a test case for each metric and expectation. What is inconclusive is an error, what
/// fails a failure.
///
/// # Errors
///
/// If the writer refuses, which it does for no text.
pub fn gate_junit(gate: &Gate) -> Result<String, String> {
    let mut suite = TestSuite::new("routing gate");
    for row in &gate.rows {
        let cells = cells(row);
        let told = format!("{}: {}", row.metric.title(), cells[1..].join("; "));
        suite.add_test_case(case(row.metric.name(), row.verdict, &told));
    }
    for (asked, verdict) in &gate.expectations {
        suite.add_test_case(case(asked, *verdict, asked));
    }
    for doubt in &gate.doubts {
        suite.add_test_case(case("doubt", GateVerdict::Inconclusive, doubt));
    }
    let mut report = Report::new("routelab");
    report.add_test_suite(suite);
    report.to_string().map_err(|error| error.to_string())
}

fn case(name: &str, verdict: GateVerdict, told: &str) -> TestCase {
    let mut status = match verdict {
        GateVerdict::Pass => TestCaseStatus::success(),
        GateVerdict::Inconclusive => TestCaseStatus::non_success(NonSuccessKind::Error),
        GateVerdict::Fail => TestCaseStatus::non_success(NonSuccessKind::Failure),
    };
    if verdict != GateVerdict::Pass {
        status.set_message(told);
    }
    let mut case = TestCase::new(name, status);
    case.set_classname("routelab.gate");
    case.set_system_out(told);
    case
}

/// For programs.
#[must_use]
pub fn gate_json(gate: &Gate) -> String {
    let row = |row: &GateRow| -> Value {
        let loss = row.loss.map(|loss| {
            json!({
                "mean": loss.mean,
                "standard_error": loss.standard_error,
                "degrees_of_freedom": loss.degrees,
                "upper_95": loss.upper(),
                "paired": loss.paired,
                "n": loss.n,
            })
        });
        json!({
            "metric": row.metric.name(),
            "unit": row.metric.unit().symbol(),
            "old": row.old,
            "new": row.new,
            "loss": loss,
            "margin": row.margin,
            "p_worse": row.p_worse,
            "verdict": row.verdict,
            "remark": row.remark,
        })
    };
    let expectation =
        |(asked, verdict): &(String, GateVerdict)| json!({"expect": asked, "verdict": verdict});
    let document = json!({
        "verdict": gate.verdict(),
        "old": gate.old,
        "new": gate.new,
        "replications_wanted": gate.replications_wanted(),
        "metrics": gate.rows.iter().map(row).collect::<Vec<_>>(),
        "doubts": gate.doubts,
        "expectations": gate.expectations.iter().map(expectation).collect::<Vec<_>>(),
    });
    format!("{document:#}\n")
}

fn conclusion(gate: &Gate) -> String {
    let of = |verdict| {
        let rows = gate.rows.iter().filter(|row| row.verdict == verdict);
        let mut names: Vec<String> = rows.map(|row| row.metric.title().to_owned()).collect();
        let expected = gate.expectations.iter().filter(|(_, v)| *v == verdict);
        names.extend(expected.map(|(asked, _)| format!("expect {asked}")));
        if verdict == GateVerdict::Inconclusive {
            names.extend(gate.doubts.iter().cloned());
        }
        names.join(", ")
    };
    match gate.verdict() {
        GateVerdict::Pass => "pass: nothing became worse than its margin allows".to_owned(),
        GateVerdict::Fail => format!("fail: {}", of(GateVerdict::Fail)),
        GateVerdict::Inconclusive => {
            let wanted = gate.replications_wanted();
            let wanted = wanted.map_or(String::new(), |n| {
                format!("; about {n} replications would decide")
            });
            format!("inconclusive: {}{wanted}", of(GateVerdict::Inconclusive))
        }
    }
}

fn cells(row: &GateRow) -> [String; 6] {
    let unit = row.metric.unit();
    let about = row.old.or(row.new).unwrap_or(0.0);
    let value = |value: Option<f64>| value.map_or_else(|| "unknown".to_owned(), |v| unit.show(v));
    let loss = row.loss.map_or_else(
        || row.remark.clone().unwrap_or_default(),
        |loss| {
            let mean = unit.show_change(loss.mean, about);
            match loss.upper() {
                Some(upper) => format!("{mean} (at most {})", unit.show_change(upper, about)),
                None => format!("{mean} ({})", row.remark.as_deref().unwrap_or_default()),
            }
        },
    );
    let allowed = row
        .margin
        .map_or_else(String::new, |margin| unit.show_change(margin, about));
    let p = row.p_worse.map_or_else(String::new, |p| match p < 0.001 {
        true => ", p < 0.001".to_owned(),
        false => format!(", p = {p:.3}"),
    });
    [
        row.metric.title().to_owned(),
        value(row.old),
        value(row.new),
        format!("{loss}{p}"),
        allowed,
        row.verdict.word().to_owned(),
    ]
}

/// Without what would break a table or a code span.
fn escaped(text: &str) -> String {
    text.replace('|', "\\|")
        .replace('`', "'")
        .replace('\n', " ")
}

const HEADER: [&str; 6] = ["metric", "old", "new", "loss", "allowed", "verdict"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::{GateSide, Loss, Margin};

    fn gate() -> Gate {
        let side = |label: &str, values: &[f64]| {
            GateSide::of_values(label, Some(("main", 1)), "success_ratio", values)
        };
        let margin = Margin::read("success_ratio", "0.5pp").unwrap();
        assert_eq!(margin.loss, Loss::Absolute(0.005));
        let mut gate = Gate::judge(
            &side("old.yaml", &[0.98, 0.97, 0.99]),
            &side("new|`.yaml", &[0.95, 0.945, 0.955]),
            &[margin],
        );
        gate.expectations
            .push(("success_ratio at least 0.9".to_owned(), GateVerdict::Pass));
        gate
    }

    #[test]
    fn the_terminal_gets_a_table_and_a_conclusion() {
        insta::assert_snapshot!(gate_text(&gate()), @r"
        Gate: new|`.yaml against old.yaml

          metric   old      new      loss                                            allowed       verdict
          Success  98.00 %  95.00 %  +3.00 points (at most +3.84 points), p = 0.005  +0.50 points  fail
          pass          expect: success_ratio at least 0.9

        fail: Success
        ");
    }

    #[test]
    fn markdown_keeps_its_table_whatever_files_are_called() {
        let text = gate_markdown(&gate());

        assert!(text.starts_with("## Routing gate: fail\n"), "{text}");
        assert!(text.contains("`new\\|'.yaml`"), "{text}");
        assert!(text.len() < 2_000);
    }

    #[test]
    fn junit_counts_failures_and_escapes_text() {
        let text = gate_junit(&gate()).unwrap();

        assert!(
            text.contains(r#"tests="2" skipped="0" failures="1" errors="0""#),
            "{text}"
        );
        assert!(text.contains(r#"name="success_ratio""#), "{text}");
    }

    #[test]
    fn json_holds_every_number() {
        let document: Value = serde_json::from_str(&gate_json(&gate())).unwrap();

        assert_eq!(document["verdict"], "fail");
        assert_eq!(document["metrics"][0]["loss"]["n"], 3);
        assert!((document["metrics"][0]["loss"]["mean"].as_f64().unwrap() - 0.03).abs() < 1e-9);
    }
}
