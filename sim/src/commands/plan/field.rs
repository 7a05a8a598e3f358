//! Sizes as they are tried: the runs of a size under a load with something out, and the verdict on it.

use std::{collections::BTreeMap, num::NonZeroUsize, thread};

use reports::{Outage, RunRecord, SizeUnit};
use scenarios::{Kind, RunPlan, Scenario};
use sim::{
    SimError,
    capacity::{
        Change, OutCase, Verdict, asked_groups, backlog_grows, has_quota, judge, looks, out_cases,
        present_size, worst,
    },
    for_plans, record_groups, run_plans,
    tune::{Bound, Limit},
};

use super::{super::sweep::without_axes, seen::Seen};
use crate::{
    cli::{PlanArgs, ScenarioArgs},
    complaint::Complaint,
    progress::Progress,
};

/// What is sized, in which scenarios, by which bounds.
pub(super) struct Field {
    pub(super) groups: Vec<String>,
    pub(super) present: Vec<u32>,
    pub(super) bounds: Vec<Bound>,
    pub(super) unit: SizeUnit,
    pub(super) most: u32,
    pub(super) confidence: f64,
    sites: Vec<Site>,
    looks: Vec<u32>,
    jobs: NonZeroUsize,
    tried: BTreeMap<Point, Tried>,
}

/// A scenario with the seeds of the search and those of the proof.
pub(super) struct Site {
    name: String,
    search: Scenario,
    pub(super) proof: Scenario,
    /// For each of the workload's models the place of its group.
    places: Vec<usize>,
}

/// What is tried.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Point {
    /// Bits of the load.
    load: u64,
    out: Outage,
    sizes: Vec<u32>,
    /// Whether on the seeds of the proof.
    is_proof: bool,
}

/// What the runs of a point gave.
#[derive(Default)]
pub(super) struct Tried {
    /// Case by case: everything that may be out, in every scenario.
    pub(super) cases: Vec<TriedCase>,
}

/// The runs with one thing out.
pub(super) struct TriedCase {
    /// What is out; with the scenario's name where there are several.
    pub(super) name: String,
    pub(super) plan: RunPlan,
    site: usize,
    pub(super) runs: Vec<Seen>,
}

/// How sure a verdict must be.
#[derive(Clone, Copy)]
pub(super) enum Care {
    /// One of this many verdicts of a search.
    Search(u32),
    /// One of a few verdicts on fresh seeds.
    Proof,
}

impl Point {
    pub(super) fn new(load: f64, out: Outage, sizes: &[u32], is_proof: bool) -> Self {
        Self {
            load: load.to_bits(),
            out,
            sizes: sizes.to_vec(),
            is_proof,
        }
    }
}

impl Field {
    pub(super) fn new(
        args: &PlanArgs,
        unit: SizeUnit,
        most: u32,
        bounds: Vec<Bound>,
    ) -> Result<Self, Complaint> {
        let mut names = vec![&args.scenario.scenario];
        for name in &args.also {
            if names.contains(&name) {
                return Err(usage(
                    format!("--also {name}: this scenario is there already"),
                    "name a scenario once",
                ));
            }
            names.push(name);
        }
        let mut groups: Vec<String> = Vec::new();
        let mut sites = Vec::new();
        for name in names {
            let (search, proof) = (
                load(&args.scenario, name, 0)?,
                load(&args.scenario, name, PROOF)?,
            );
            let (asked, places) = asked_groups(&search.plan(0, 0)).map_err(|model| {
                usage(
                    format!("{name} asks for `{model}`, which only a wildcard serves"),
                    "plan sizes model groups: give the name a group of its own",
                )
            })?;
            if groups.is_empty() {
                groups.clone_from(&asked);
            }
            let place = |group: &String| {
                let place = groups.iter().position(|known| known == group);
                place.ok_or_else(|| {
                    usage(
                        format!(
                            "--also {name}: it asks for the group `{group}`, which {} does not",
                            args.scenario.scenario
                        ),
                        "plan for scenarios with the same groups: give both your --config",
                    )
                })
            };
            let asked: Vec<usize> = asked.iter().map(place).collect::<Result<_, _>>()?;
            sites.push(Site {
                name: name.clone(),
                search,
                proof,
                places: places.into_iter().map(|at| asked[at]).collect(),
            });
        }
        let base = sites[0].search.plan(0, 0);
        if unit == SizeUnit::QuotaTenths
            && let Some(group) = groups.iter().find(|group| !has_quota(&base, group))
        {
            return Err(usage(
                format!(
                    "--size quota: the providers of `{group}` have no limit that could be raised"
                ),
                "give them a quota in the scenario's `providers`, or use --size deployments",
            ));
        }
        let present: Vec<u32> = (groups.iter())
            .map(|group| present_size(&base, unit, group))
            .collect();
        if let Some(at) = present.iter().position(|&size| size > most) {
            return Err(usage(
                format!(
                    "--most: `{}` has {} at present",
                    groups[at],
                    unit.show_whole(present[at])
                ),
                "allow at least as many",
            ));
        }
        let cores = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        Ok(Self {
            groups,
            present,
            bounds,
            unit,
            most,
            confidence: args.confidence,
            sites,
            looks: looks(args.max_reps),
            jobs: args.output.jobs.unwrap_or(cores),
            tried: BTreeMap::new(),
        })
    }

    /// Tells of a metric that has no value in a scenario, before the long work; false if interrupted.
    pub(super) fn check_known(&self) -> Result<bool, Complaint> {
        for site in &self.sites {
            let plan = site.search.plan(0, 0);
            let Some(runs) = self.run(&[plan], |plan, watch| {
                run_plans(std::slice::from_ref(plan), NonZeroUsize::MIN, watch)
            })?
            else {
                return Ok(false);
            };
            let Some(run) = runs.first().and_then(|runs| runs.first()) else {
                return Ok(false);
            };
            let unknown = self
                .bounds
                .iter()
                .find(|bound| bound.metric.value(run).is_none());
            if let Some(bound) = unknown.filter(|_| run.completed > 0) {
                return Err(usage(
                    format!(
                        "--slo: {} has no value in {}",
                        bound.metric.name(),
                        site.name
                    ),
                    "goodput needs an `slo` of the scenario (--set slo.latency_s=20), cost needs --prices",
                ));
            }
        }
        Ok(true)
    }

    /// The first scenario, by which the report goes.
    pub(super) fn site(&self) -> &Site {
        &self.sites[0]
    }

    /// The verdict on each group at a point; `None` if interrupted. Replications are added until it is
    /// clear or there are no more.
    pub(super) fn verdicts(
        &mut self,
        point: &Point,
        care: Care,
    ) -> Result<Option<Vec<Verdict>>, Complaint> {
        let mut verdicts = Vec::new();
        for (look, upto) in self.looks.clone().into_iter().enumerate() {
            verdicts = vec![Verdict::Meets; self.groups.len()];
            let cases = self.tried(point).cases.len();
            for case in 0..cases {
                if !self.extend(point, case, upto as usize)? {
                    return Ok(None);
                }
                for (group, verdict) in verdicts.iter_mut().enumerate() {
                    *verdict = worst([*verdict, self.verdict(point, case, group, care, look)]);
                }
                // One case is enough to know that the size does not do.
                if verdicts.contains(&Verdict::Misses) {
                    return Ok(Some(verdicts));
                }
            }
            if worst(verdicts.iter().copied()) == Verdict::Meets {
                break;
            }
        }
        Ok(Some(verdicts))
    }

    fn verdict(
        &self,
        point: &Point,
        case: usize,
        group: usize,
        care: Care,
        look: usize,
    ) -> Verdict {
        let tried = &self.tried[point];
        let runs = &tried.cases[case].runs;
        let runs = &runs[..runs.len().min(self.looks[look] as usize)];
        let whole = (1.0 - self.confidence) / reports::stats::size(self.looks.len());
        let rows =
            f64::from(u32::try_from(tried.cases.len() * self.bounds.len()).unwrap_or(u32::MAX));
        let meets = match care {
            Care::Search(steps) => whole / f64::from(steps),
            Care::Proof => whole / f64::from(PROOFS),
        };
        if self.is_backlogged(point, case, group, runs.len()) {
            return Verdict::Misses;
        }
        worst(self.bounds.iter().enumerate().map(|(at, bound)| {
            let values = runs
                .iter()
                .map(|run| run.values[group * self.bounds.len() + at]);
            let values: Vec<Option<f64>> = values.collect();
            judge(bound, limit(bound), &values, meets, meets / rows)
        }))
    }

    /// Whether the backlog of a group grows over the first `count` runs of a case. Only in a steady
    /// scenario that means anything.
    pub(super) fn is_backlogged(
        &self,
        point: &Point,
        case: usize,
        group: usize,
        count: usize,
    ) -> bool {
        let case = &self.tried[point].cases[case];
        let is_steady = self.sites[case.site].search.kind() == Kind::Steady;
        let runs = case.runs.iter().take(count);
        let peaks: Vec<_> = runs
            .filter_map(|run| run.peaks.get(group).copied())
            .collect();
        is_steady && backlog_grows(&peaks)
    }

    /// What was tried at a point; its cases at least.
    pub(super) fn tried(&mut self, point: &Point) -> &Tried {
        if !self.tried.contains_key(point) {
            let cases = self.cases(point);
            self.tried.insert(point.clone(), cases);
        }
        &self.tried[point]
    }

    /// The cases of a point, without any runs.
    pub(super) fn cases(&self, point: &Point) -> Tried {
        let sizes = self.groups.iter().cloned().zip(point.sizes.iter().copied());
        let sizes: Vec<(String, u32)> = sizes.collect();
        let change = Change {
            load: f64::from_bits(point.load),
            unit: self.unit,
            sizes: &sizes,
        };
        let several = self.sites.len() > 1;
        let cases = self.sites.iter().enumerate().flat_map(|(at, site)| {
            let scenario = match point.is_proof {
                true => &site.proof,
                false => &site.search,
            };
            let plan = change.of(&scenario.plan(0, 0));
            let cases = out_cases(point.out, &plan, &self.groups);
            let tried = move |case: OutCase| TriedCase {
                plan: case.of(&plan),
                name: match (several, case.name.is_empty()) {
                    (false, _) => case.name,
                    (true, true) => format!("nothing in {}", site.name),
                    (true, false) => format!("{} in {}", case.name, site.name),
                },
                site: at,
                runs: Vec::new(),
            };
            cases.into_iter().map(tried).collect::<Vec<_>>()
        });
        Tried {
            cases: cases.collect(),
        }
    }

    /// Runs a case up to this many replications; false if interrupted.
    fn extend(&mut self, point: &Point, case: usize, upto: usize) -> Result<bool, Complaint> {
        let from = self.tried[point].cases[case].runs.len();
        if from >= upto {
            return Ok(true);
        }
        let plan = self.tried[point].cases[case].plan.clone();
        let Some(seen) = self.see((point, case), &plan, from..upto)? else {
            return Ok(false);
        };
        if let Some(tried) = self.tried.get_mut(point) {
            tried.cases[case].runs.extend(seen);
        }
        Ok(true)
    }

    /// Runs of a plan in the place of a case's own that was tried, with the case's luck; `None` if
    /// interrupted.
    pub(super) fn see(
        &self,
        (point, case): (&Point, usize),
        plan: &RunPlan,
        replications: std::ops::Range<usize>,
    ) -> Result<Option<Vec<Seen>>, Complaint> {
        let site = &self.sites[self.tried[point].cases[case].site];
        let scenario = match point.is_proof {
            true => &site.proof,
            false => &site.search,
        };
        let plans: Vec<RunPlan> = replications
            .filter_map(|replication| u32::try_from(replication).ok())
            .map(|replication| RunPlan {
                replication,
                seed: scenario.plan(0, replication).seed,
                ..plan.clone()
            })
            .collect();
        let bounds = &self.bounds;
        let seen = |plan: &RunPlan, watch: &Progress| {
            let records = record_groups(plan, &site.places, watch)?;
            Ok(Seen::of(&records, self.groups.len(), bounds))
        };
        self.run(&plans, seen)
    }

    fn run<T: Send + Sync>(
        &self,
        plans: &[RunPlan],
        run: impl Fn(&RunPlan, &Progress) -> Result<T, SimError> + Sync,
    ) -> Result<Option<Vec<T>>, Complaint> {
        let progress = Progress::start_batch(plans.len(), self.jobs.get().min(plans.len()));
        let done = for_plans(plans, self.jobs, &progress, |plan| run(plan, &progress));
        let interrupted = progress.finish();
        let done = done?;
        Ok((!interrupted && done.len() == plans.len()).then_some(done))
    }

    /// Whole records of a plan's first replications on a case's luck; `None` if interrupted.
    pub(super) fn records(
        &self,
        case: &TriedCase,
        replications: u32,
    ) -> Result<Option<Vec<RunRecord>>, Complaint> {
        let scenario = &self.sites[case.site].proof;
        let plans: Vec<RunPlan> = (0..replications)
            .map(|replication| RunPlan {
                replication,
                seed: scenario.plan(0, replication).seed,
                ..case.plan.clone()
            })
            .collect();
        self.run(&plans, sim::record_run)
    }
}

/// The limit in the metric's unit; relative ones were refused.
pub(super) fn limit(bound: &Bound) -> f64 {
    match bound.limit {
        Limit::Absolute(limit) | Limit::Relative(limit) => limit,
    }
}

/// A scenario without its own axes; those that differ in `fresh` have no luck in common.
fn load(args: &ScenarioArgs, name: &str, fresh: u64) -> Result<Scenario, Complaint> {
    let mut changed = args.clone();
    changed.scenario = name.to_owned();
    changed.reps = Some(1);
    changed.sets = without_axes();
    changed.sets.extend(args.sets.iter().cloned());
    let scenario = changed.load()?;
    if fresh == 0 {
        return Ok(scenario);
    }
    changed.seed = Some(scenario.seed().wrapping_add(fresh));
    changed.load()
}

fn usage(message: String, help: &str) -> Complaint {
    Complaint::Usage {
        message,
        help: help.to_owned(),
    }
}

/// Seeds of the proof, apart from those of the search.
const PROOF: u64 = 3_000_003;
/// Sizes that a proof may try.
pub(super) const PROOFS: u32 = 3;
