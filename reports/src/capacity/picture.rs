//! A capacity plan as bars: the size that each load needs, by what is out.

use super::{CapacityLine, CapacityRecord, SizeFound, told::times};
use crate::{aligned::aligned, text_plots::bar};

/// Bars for a terminal, a block for each group that is sized; empty for a single line, which is no curve.
#[must_use]
pub fn capacity_picture(plan: &CapacityRecord) -> String {
    if plan.lines.len() < 2 {
        return String::new();
    }
    let groups = 0..plan.groups.len();
    groups.map(|group| of_group(plan, group)).collect()
}

fn of_group(plan: &CapacityRecord, at: usize) -> String {
    let group = &plan.groups[at];
    let needed = |line: &CapacityLine| line.sizes.get(at).copied();
    let largest = plan.lines.iter().filter_map(needed).max().unwrap_or(0);
    let whole = f64::from(largest.max(group.present).max(1));
    let row = |what: String, out: &str, value: u32, told: String| {
        vec![
            what,
            out.to_owned(),
            bar(f64::from(value) / whole, WIDTH),
            told,
        ]
    };
    let mut rows = vec![row(
        "now".to_owned(),
        "",
        group.present,
        plan.unit.show(group.present),
    )];
    let mut lines: Vec<&CapacityLine> = plan.lines.iter().collect();
    lines.sort_by(|a, b| a.out.cmp(&b.out).then(a.load.total_cmp(&b.load)));
    for line in lines {
        let load = times(line.load);
        rows.push(match (line.found, needed(line)) {
            (SizeFound::None, _) | (_, None) => vec![
                load,
                line.out.words().to_owned(),
                String::new(),
                format!("more than {}", plan.unit.show(plan.most)),
            ],
            (SizeFound::Shown, Some(size)) => {
                row(load, line.out.words(), size, plan.unit.show(size))
            }
            (SizeFound::NotShown, Some(size)) => {
                row(load, line.out.words(), size, plan.unit.show(size) + "?")
            }
        });
    }
    let what = match plan.unit {
        super::SizeUnit::Deployments => "Deployments",
        super::SizeUnit::QuotaTenths => "Quota",
    };
    let mut text = format!("\n{what} of `{}` that each load needs\n", group.name);
    // A number stands at the end of its bar.
    let joined = |row: Vec<String>| {
        let [load, out, bar, told] = <[String; 4]>::try_from(row).unwrap_or_default();
        vec![load, out, format!("{bar} {told}").trim_start().to_owned()]
    };
    let rows: Vec<Vec<String>> = rows.into_iter().map(joined).collect();
    for line in aligned(&rows) {
        text += &format!("  {line}\n");
    }
    text
}

/// Characters of the longest bar.
const WIDTH: usize = 32;

#[cfg(test)]
mod tests {
    use super::{
        super::{CapacityGroup, Outage, SizeUnit},
        *,
    };

    fn line(load: f64, out: Outage, found: SizeFound, size: u32) -> CapacityLine {
        CapacityLine {
            load,
            out,
            found,
            sizes: vec![size],
            ..CapacityLine::default()
        }
    }

    #[test]
    fn bars_grow_with_the_load_and_what_is_not_shown_has_a_question_mark() {
        let plan = CapacityRecord {
            unit: SizeUnit::Deployments,
            groups: vec![CapacityGroup {
                name: "chat".to_owned(),
                present: 4,
            }],
            most: 64,
            lines: vec![
                line(1.0, Outage::None, SizeFound::Shown, 4),
                line(1.0, Outage::Deployment, SizeFound::Shown, 6),
                line(2.5, Outage::None, SizeFound::Shown, 10),
                line(2.5, Outage::Deployment, SizeFound::NotShown, 13),
                CapacityLine {
                    sizes: Vec::new(),
                    ..line(9.0, Outage::Deployment, SizeFound::None, 0)
                },
            ],
            ..CapacityRecord::default()
        };

        insta::assert_snapshot!(capacity_picture(&plan));
    }

    #[test]
    fn one_line_is_no_curve() {
        let plan = CapacityRecord {
            lines: vec![line(1.0, Outage::None, SizeFound::Shown, 4)],
            ..CapacityRecord::default()
        };

        assert_eq!(capacity_picture(&plan), "");
    }
}
