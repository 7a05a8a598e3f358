//! The plans of a probe: steady load with a push, and a ramp.

use std::sync::Arc;

use mock_providers::{FailureMode, failure::Outage};
use scenarios::{ProviderBinding, RunPlan, Scenario};

use crate::{
    cli::{ProbeArgs, Push},
    complaint::Complaint,
};

/// What is done to the service.
pub(super) struct Study {
    push: Push,
    factor: f64,
    pub(super) before_s: f64,
    pub(super) length_s: f64,
    pub(super) watched_s: f64,
    /// Up to the largest, then down.
    pub(super) loads: Vec<f64>,
    pub(super) step_s: f64,
}

impl Study {
    pub(super) fn read(args: &ProbeArgs) -> Result<Self, Complaint> {
        let times = [
            ("--before", args.before),
            ("--length", args.length),
            ("--watch", args.watch),
            ("--step", args.step),
        ];
        for (flag, seconds) in times {
            if !(1.0..=LONGEST_S).contains(&seconds) {
                return Err(usage(
                    format!("{flag} {seconds}: accepted are seconds from 1 to {LONGEST_S}"),
                    "for example: --length 60",
                ));
            }
        }
        if !(args.factor > 0.0 && args.factor <= 1_000.0) {
            return Err(usage(
                format!(
                    "--factor {}: accepted is a number above 0, up to 1000",
                    args.factor
                ),
                "for example: --factor 3",
            ));
        }
        Ok(Self {
            push: args.push,
            factor: args.factor,
            before_s: args.before,
            length_s: args.length,
            watched_s: args.watch,
            loads: ramp(&args.ramp)?,
            step_s: args.step,
        })
    }

    /// The push in words.
    pub(super) fn told(&self) -> String {
        match self.push {
            Push::Load => format!("{}× the load for {} s", self.factor, self.length_s),
            Push::Outage => format!("an outage of every provider for {} s", self.length_s),
        }
    }

    /// Windows of 50 requests on average at least, and of 5 s at least.
    pub(super) fn width_s(&self, scenario: &Scenario) -> f64 {
        let workload = scenario.plan(0, 0).workload;
        let per_second = workload.expected_arrivals() / workload.duration().as_secs_f64();
        let width_s = (50.0 / per_second.max(1e-9)).max(5.0).ceil();
        // The push begins and ends with a window.
        let parts = (self.before_s / width_s).floor().max(1.0);
        self.before_s / parts
    }

    /// Every arm and replication with the push.
    pub(super) fn pushed(&self, scenario: &Scenario) -> Result<Vec<RunPlan>, Complaint> {
        let end_s = self.before_s + self.length_s;
        let factor = match self.push {
            Push::Load => self.factor,
            Push::Outage => 1.0,
        };
        let steps = [
            (self.before_s, 1.0),
            (end_s, factor),
            (end_s + self.watched_s, 1.0),
        ];
        let plans = in_steps(scenario, &steps)?.into_iter();
        Ok(match self.push {
            Push::Load => plans.collect(),
            Push::Outage => plans.map(|plan| down(plan, self.before_s, end_s)).collect(),
        })
    }

    /// Every arm and replication under the ramp.
    pub(super) fn ramped(&self, scenario: &Scenario) -> Result<Vec<RunPlan>, Complaint> {
        let steps = self.loads.iter().enumerate();
        let steps = steps.map(|(at, load)| (reports::stats::size(at + 1) * self.step_s, *load));
        in_steps(scenario, &steps.collect::<Vec<_>>())
    }
}

fn in_steps(scenario: &Scenario, steps: &[(f64, f64)]) -> Result<Vec<RunPlan>, Complaint> {
    let stepped = |plan: RunPlan| {
        let workload = plan.workload.in_steps(steps).ok_or_else(|| {
            usage(
                "the scenario replays a trace: a probe needs a load that is steady by itself"
                    .to_owned(),
                "give it generated arrivals, such as `arrivals: {poisson: {per_second: 10}}`",
            )
        })?;
        Ok(RunPlan {
            workload: Arc::new(workload),
            ..plan
        })
    };
    scenario.plans().into_iter().map(stepped).collect()
}

/// The plan with every provider out for a while.
fn down(plan: RunPlan, from_s: f64, to_s: f64) -> RunPlan {
    let outage = FailureMode::Outage(Outage {
        from_s: Some(from_s),
        to_s: Some(to_s),
        ..Outage::default()
    });
    let with_outage = |binding: &ProviderBinding| {
        // A preset was read with the scenario, so it is there.
        let spec = binding.spec.resolve().ok();
        let mut spec = spec.unwrap_or_else(|| (*binding.spec).clone());
        let faults = spec.faults.unwrap_or_default();
        spec.faults = Some(std::iter::once(outage.clone()).chain(faults).collect());
        ProviderBinding {
            spec: Arc::new(spec),
            ..binding.clone()
        }
    };
    RunPlan {
        providers: plan.providers.iter().map(with_outage).collect(),
        ..plan
    }
}

/// The loads of a ramp, up and down.
fn ramp(text: &str) -> Result<Vec<f64>, Complaint> {
    let wrong = || {
        usage(
            format!(
                "--ramp {text}: accepted is a least load, a largest and a step, of at most 50 steps"
            ),
            "for example: --ramp 0.5,2,0.25",
        )
    };
    let numbers: Option<Vec<f64>> = text
        .split(',')
        .map(|part| part.trim().parse().ok())
        .collect();
    let Some([from, to, step]) = numbers
        .as_deref()
        .and_then(|numbers| <[f64; 3]>::try_from(numbers).ok())
    else {
        return Err(wrong());
    };
    let fits = from > 0.0 && to > from && to <= 1_000.0 && step > 0.0 && (to - from) / step <= 50.0;
    if !fits {
        return Err(wrong());
    }
    let mut up = Vec::new();
    let mut number = 0.0;
    while from + number * step <= to + 1e-9 {
        // Without the dust of sums.
        up.push(((from + number * step) * 1e6).round() / 1e6);
        number += 1.0;
    }
    let down = up.iter().rev().skip(1).copied().collect::<Vec<_>>();
    up.extend(down);
    Ok(up)
}

fn usage(message: String, help: &str) -> Complaint {
    Complaint::Usage {
        message,
        help: help.to_owned(),
    }
}

/// A day.
const LONGEST_S: f64 = 86_400.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ramp_goes_up_to_its_end_and_back() {
        assert_eq!(
            ramp("0.5,1.25,0.25").unwrap(),
            [0.5, 0.75, 1.0, 1.25, 1.0, 0.75, 0.5]
        );
        for wrong in [
            "1",
            "1,2",
            "2,1,0.1",
            "1,2,0",
            "1,2,0.001",
            "a,b,c",
            "0,1,0.5",
        ] {
            assert!(ramp(wrong).is_err(), "{wrong}");
        }
    }
}
