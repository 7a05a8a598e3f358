//! A plan under more load, at another size, with something out.

use std::sync::Arc;

use mock_providers::{FailureMode, ProviderSpec, QuotaSpec, failure::Outage as Down};
use reports::{Outage, SizeUnit};
use router::{DeploymentConfig, RouterConfig};
use scenarios::{ProviderBinding, RunPlan};

/// One way in which something is out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OutCase {
    /// What, for people; empty for nothing.
    pub name: String,
    /// The deployments, by their places in the changed plan.
    pub deployments: Vec<usize>,
}

/// Changes of a plan.
#[derive(Clone, Debug)]
pub struct Change<'a> {
    /// What the load is multiplied by.
    pub load: f64,
    /// What `sizes` count.
    pub unit: SizeUnit,
    /// The size of each group.
    pub sizes: &'a [(String, u32)],
}

impl Change<'_> {
    /// The plan at this load and these sizes, with nothing out.
    #[must_use]
    pub fn of(&self, plan: &RunPlan) -> RunPlan {
        let mut router = RouterConfig::clone(&plan.router);
        let mut providers = plan.providers.to_vec();
        match self.unit {
            SizeUnit::Deployments => {
                for (group, size) in self.sizes {
                    count_to(
                        &mut router.deployments,
                        &mut providers,
                        group,
                        *size as usize,
                    );
                }
            }
            SizeUnit::QuotaTenths => {
                for (at, binding) in providers.iter_mut().enumerate() {
                    let tenths = self.tenths(plan, at);
                    if tenths != 10 {
                        binding.spec = Arc::new(with_quota(&binding.spec, tenths));
                        let deployment = &mut router.deployments[at];
                        deployment.rpm = deployment.rpm.map(|limit| scaled(limit, tenths));
                        deployment.tpm = deployment.tpm.map(|limit| scaled(limit, tenths));
                        let of_info = (deployment.model_info_rpm, deployment.model_info_tpm);
                        deployment.model_info_rpm = of_info.0.map(|limit| scaled(limit, tenths));
                        deployment.model_info_tpm = of_info.1.map(|limit| scaled(limit, tenths));
                    }
                }
            }
        }
        RunPlan {
            router: Arc::new(router),
            providers: providers.into(),
            workload: match self.load.to_bits() == 1.0_f64.to_bits() {
                true => Arc::clone(&plan.workload),
                false => Arc::new(plan.workload.times(self.load)),
            },
            ..plan.clone()
        }
    }

    /// The size that holds for a deployment: that of its group, and at least that of every group with
    /// which it shares a pool.
    fn tenths(&self, plan: &RunPlan, at: usize) -> u32 {
        let pool_of = |at: usize| pool(&plan.providers[at].spec);
        let size_of = |at: usize| {
            let group = &plan.router.deployments[at].model_name;
            let sized = self.sizes.iter().find(|(name, _)| name == group);
            sized.map(|(_, size)| *size)
        };
        let shared = pool_of(at);
        let mates = (0..plan.providers.len())
            .filter(|&other| other == at || (shared.is_some() && pool_of(other) == shared));
        mates.filter_map(size_of).max().unwrap_or(10)
    }
}

/// Every way in which this may be out of a plan, those that are alike once.
#[must_use]
pub fn out_cases(outage: Outage, plan: &RunPlan, groups: &[String]) -> Vec<OutCase> {
    let all = 0..plan.router.deployments.len();
    let sized = all.clone().filter(|&at| {
        let group = &plan.router.deployments[at].model_name;
        groups.contains(group)
    });
    let mut cases: Vec<OutCase> = Vec::new();
    match outage {
        Outage::None => cases.push(OutCase {
            name: String::new(),
            deployments: Vec::new(),
        }),
        Outage::Deployment => {
            for at in sized {
                let is_alike = |case: &OutCase| alike(plan, case.deployments[0], at);
                if !cases.iter().any(is_alike) {
                    cases.push(OutCase {
                        name: plan.router.deployments[at].id.clone(),
                        deployments: vec![at],
                    });
                }
            }
        }
        Outage::Provider => {
            for at in sized {
                let name = provider(&plan.providers[at]);
                if cases.iter().all(|case| case.name != name) {
                    let same = |&other: &usize| provider(&plan.providers[other]) == name;
                    cases.push(OutCase {
                        deployments: all.clone().filter(same).collect(),
                        name,
                    });
                }
            }
        }
    }
    cases
}

impl OutCase {
    /// The plan with this out: from the first second to the last every attempt there gets a 503 at
    /// once, which the router has to find out by itself.
    #[must_use]
    pub fn of(&self, plan: &RunPlan) -> RunPlan {
        if self.deployments.is_empty() {
            return plan.clone();
        }
        let mut providers = plan.providers.to_vec();
        for &at in &self.deployments {
            let mut spec = resolved(&providers[at].spec);
            let down = FailureMode::Outage(Down::default());
            let faults = std::iter::once(down).chain(spec.faults.unwrap_or_default());
            spec.faults = Some(faults.collect());
            providers[at].spec = Arc::new(spec);
        }
        RunPlan {
            providers: providers.into(),
            ..plan.clone()
        }
    }
}

/// The groups that a plan's requests ask for, and for each of the workload's models the place of its
/// group. Aliases stand for their groups.
///
/// # Errors
///
/// The name that is asked for and is neither a group nor an alias of one: a wildcard serves it.
pub fn asked_groups(plan: &RunPlan) -> Result<(Vec<String>, Vec<usize>), String> {
    let is_group = |name: &String| {
        let mut deployments = plan.router.deployments.iter();
        deployments.any(|deployment| deployment.model_name == *name)
    };
    let mut groups: Vec<String> = Vec::new();
    let mut places = Vec::new();
    for name in plan.workload.models() {
        let alias = plan.router.settings.model_group_alias.get(name);
        let group = Some(name).filter(|name| is_group(name)).or(alias);
        let Some(group) = group.filter(|group| is_group(group)) else {
            return Err(name.clone());
        };
        let place = groups.iter().position(|known| known == group);
        places.push(place.unwrap_or_else(|| {
            groups.push(group.clone());
            groups.len() - 1
        }));
    }
    Ok((groups, places))
}

/// A group's size as it is.
#[must_use]
pub fn present_size(plan: &RunPlan, unit: SizeUnit, group: &str) -> u32 {
    match unit {
        SizeUnit::QuotaTenths => 10,
        SizeUnit::Deployments => {
            let all = plan.router.deployments.iter();
            let count = all.filter(|one| one.model_name == group).count();
            u32::try_from(count).unwrap_or(u32::MAX)
        }
    }
}

/// Whether any provider of the group has a limit that a larger quota would raise.
#[must_use]
pub fn has_quota(plan: &RunPlan, group: &str) -> bool {
    let both = plan.router.deployments.iter().zip(plan.providers.iter());
    let mut group = both.filter(|(deployment, _)| deployment.model_name == group);
    group.any(|(_, binding)| {
        let spec = resolved(&binding.spec);
        spec.quota.is_some() || spec.max_concurrent.is_some()
    })
}

/// The preset written out. A scenario that was read has only presets that exist.
pub(super) fn resolved(spec: &ProviderSpec) -> ProviderSpec {
    spec.resolve().unwrap_or_else(|_| spec.clone())
}

/// Copies deployments of a group, or takes its last ones away. Copies stand at the end, so that those
/// that are there keep their places, and by them their luck.
fn count_to(
    deployments: &mut Vec<DeploymentConfig>,
    providers: &mut Vec<ProviderBinding>,
    group: &str,
    size: usize,
) {
    let of_group: Vec<usize> = (0..deployments.len())
        .filter(|&at| deployments[at].model_name == group)
        .collect();
    for &at in of_group.iter().skip(size).rev() {
        deployments.remove(at);
        providers.remove(at);
    }
    for number in of_group.len()..size {
        let (round, template) = (number / of_group.len(), of_group[number % of_group.len()]);
        let mut copy = deployments[template].clone();
        copy.id = format!("{} #{}", copy.id, round + 1);
        deployments.push(copy);
        providers.push(providers[template].clone());
    }
}

fn with_quota(spec: &ProviderSpec, tenths: u32) -> ProviderSpec {
    let mut spec = resolved(spec);
    let limit = |limit: Option<u64>| limit.map(|limit| scaled(limit, tenths));
    spec.quota = spec.quota.map(|quota| QuotaSpec {
        requests_per_minute: limit(quota.requests_per_minute),
        tokens_per_minute: limit(quota.tokens_per_minute),
        output_tokens_per_minute: limit(quota.output_tokens_per_minute),
        requests_per_day: limit(quota.requests_per_day),
        burst_requests: limit(quota.burst_requests),
        burst_tokens: limit(quota.burst_tokens),
        ..quota
    });
    spec.max_concurrent = spec.max_concurrent.map(|slots| {
        let slots = scaled(u64::from(slots), tenths).min(MOST_SLOTS);
        u32::try_from(slots).unwrap_or(u32::MAX)
    });
    spec
}

/// Tenths of a limit, rounded, and 1 at least.
fn scaled(limit: u64, tenths: u32) -> u64 {
    (limit.saturating_mul(u64::from(tenths)).saturating_add(5) / 10).max(1)
}

fn pool(spec: &ProviderSpec) -> Option<String> {
    resolved(spec).quota.and_then(|quota| quota.pool)
}

fn provider(binding: &ProviderBinding) -> String {
    resolved(&binding.spec)
        .fleet
        .unwrap_or_else(|| binding.name.clone())
}

/// Whether two deployments differ in their names alone, so that either may stand for the other.
fn alike(plan: &RunPlan, a: usize, b: usize) -> bool {
    let without_name = |at: usize| DeploymentConfig {
        id: String::new(),
        ..plan.router.deployments[at].clone()
    };
    plan.providers[a] == plan.providers[b] && without_name(a) == without_name(b)
}

/// The most that a provider may have (`max_concurrent`).
const MOST_SLOTS: u64 = 4_096;
