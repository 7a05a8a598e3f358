//! Which loads are planned for: a list, or points of a growth.

use crate::{cli::PlanArgs, complaint::Complaint};

/// A load, and what it is called where it has a name.
pub(super) type Load = (f64, Option<String>);

/// The loads of the command line, in order.
pub(super) fn loads(args: &PlanArgs) -> Result<Vec<Load>, Complaint> {
    match (&args.growth, args.periods) {
        (Some(growth), Some(periods)) => growing(growth, periods),
        _ => listed(&args.load),
    }
}

fn listed(text: &str) -> Result<Vec<Load>, Complaint> {
    let usage = |message: String| Complaint::Usage {
        message: format!("--load: {message}"),
        help: "for example: --load 1,1.5,2,3, in multiples of the scenario's own load".to_owned(),
    };
    let mut loads: Vec<f64> = Vec::new();
    for part in text.split(',').map(str::trim) {
        let number: Option<f64> = part.trim_end_matches(['x', '×']).parse().ok();
        let load = number
            .filter(|load| (LEAST..=MOST).contains(load))
            .ok_or_else(|| usage(format!("`{part}` is no number from {LEAST} to {MOST}")))?;
        if loads.iter().any(|known| known.to_bits() == load.to_bits()) {
            return Err(usage(format!("`{part}` appears twice")));
        }
        loads.push(load);
    }
    loads.sort_by(f64::total_cmp);
    Ok(loads.into_iter().map(|load| (load, None)).collect())
}

/// Points of a compound growth, today's and the last among them.
fn growing(text: &str, periods: u32) -> Result<Vec<Load>, Complaint> {
    let usage = |message: String| Complaint::Usage {
        message: format!("--growth: {message}"),
        help: "for example: --growth 10%/month --for 12".to_owned(),
    };
    let (share, period) = text.split_once('/').unwrap_or((text, "month"));
    let period = period.trim();
    if !["week", "month", "quarter", "year"].contains(&period) {
        return Err(usage(format!(
            "`{period}` is neither week, month, quarter nor year"
        )));
    }
    let percent: Option<f64> = (share.trim().strip_suffix('%')).and_then(|n| n.trim().parse().ok());
    let percent = percent
        .filter(|percent| *percent > 0.0 && *percent <= 1_000.0)
        .ok_or_else(|| usage(format!("`{share}` is no percentage above 0")))?;
    let points = periods.min(POINTS - 1);
    let at = |point: u32| {
        // Rounded, so that points are spread evenly and the last is the end.
        let number = (point * periods + points / 2) / points;
        let mut load = 1.0;
        for _ in 0..number {
            load *= 1.0 + percent / 100.0;
        }
        let load = (load * 100.0).round() / 100.0;
        let name = match number {
            0 => "today".to_owned(),
            number => format!("{period} {number}"),
        };
        (load, Some(name))
    };
    let loads: Vec<Load> = (0..=points).map(at).collect();
    match loads.last().filter(|(load, _)| *load > MOST) {
        None => Ok(loads),
        Some((load, _)) => Err(usage(format!(
            "this ends at {load:.0} times today's load; accepted is up to {MOST}"
        ))),
    }
}

const LEAST: f64 = 0.01;
const MOST: f64 = 1_000.0;
/// Points of a growth that are sized.
const POINTS: u32 = 7;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_put_in_order() {
        let loads = listed("3, 1,1.5x").unwrap();
        let loads: Vec<f64> = loads.iter().map(|(load, _)| *load).collect();

        assert_eq!(loads, [1.0, 1.5, 3.0]);
        assert!(listed("1,1").is_err());
        assert!(listed("0").is_err());
        assert!(listed("").is_err());
    }

    #[test]
    fn a_growth_is_compounded_and_ends_where_it_says() {
        let loads = growing("10%/month", 12).unwrap();
        let named: Vec<String> = loads
            .iter()
            .map(|(load, name)| format!("{load} {}", name.as_deref().unwrap_or_default()))
            .collect();

        assert_eq!(
            named,
            [
                "1 today",
                "1.21 month 2",
                "1.46 month 4",
                "1.77 month 6",
                "2.14 month 8",
                "2.59 month 10",
                "3.14 month 12"
            ]
        );
        assert_eq!(growing("50%/year", 2).unwrap().len(), 3);
        for wrong in ["10/month", "10%/fortnight", "-5%/month", "900%/month"] {
            assert!(growing(wrong, 12).is_err(), "{wrong}");
        }
    }
}
