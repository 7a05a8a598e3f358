//! Cost-based routing by prices that are unknown, equal or not looked at (semantics 3.6).

use router::{DeploymentConfig, StrategySpec};

use super::{
    Severity,
    subject::{Group, Hit, Rule, Subject, listed},
};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "cost-prices-unknown",
        severity: Severity::Warning,
        about: "cost-based-routing between deployments whose prices are unknown",
        check: unknown,
    },
    Rule {
        id: "cost-prices-tie",
        severity: Severity::Warning,
        about: "cost-based-routing between deployments of the same price",
        check: tie,
    },
    Rule {
        id: "cost-half-priced",
        severity: Severity::Warning,
        about: "cost-based-routing by one price of two",
        check: half,
    },
    Rule {
        id: "cost-zero-price",
        severity: Severity::Warning,
        about: "a price of 0, which cost-based-routing reads as unknown",
        check: zero,
    },
    Rule {
        id: "cost-ignores-model-info",
        severity: Severity::Warning,
        about: "prices in model_info, which cost-based-routing does not look at",
        check: model_info,
    },
];

/// Groups of two or more that are routed by cost.
fn by_cost<'s, 'a>(subject: &'s Subject<'a>) -> impl Iterator<Item = &'s Group<'a>> {
    subject.groups.iter().filter(|group| {
        group.members.len() > 1 && *subject.strategy(group.name) == StrategySpec::LowestCost
    })
}

/// What the strategy finds for input and output: own prices but 0, then the registry's.
fn found(deployment: &DeploymentConfig) -> [Option<f64>; 2] {
    let own = |usd: Option<f64>| usd.filter(|usd| *usd != 0.0);
    let (prices, listed) = (&deployment.own_prices, &deployment.listed_prices);
    [
        own(prices.input).or(listed.input),
        own(prices.output).or(listed.output),
    ]
}

fn cost(deployment: &DeploymentConfig) -> f64 {
    found(deployment)
        .iter()
        .map(|usd| usd.unwrap_or(UNKNOWN))
        .sum()
}

fn is_unknown(deployment: &DeploymentConfig) -> bool {
    found(deployment) == [None; 2]
}

fn unknown(subject: &Subject<'_>) -> Vec<Hit> {
    by_cost(subject)
        .filter(|group| subject.members(group).all(is_unknown))
        .map(|group| {
            let first = subject.id(group.members[0]);
            let prefixed = subject.members(group).any(|d| d.model.contains('/'));
            let advice = if prefixed {
                "give prices in litellm_params: the registry lists most models without the prefix of \
                 their provider, and LiteLLM looks for exactly the text of `model`"
            } else {
                "give the price registry with --prices, or prices in litellm_params"
            };
            Hit::new(
                subject.entry(group.members[0]),
                format!(
                    "no price is known for any deployment of `{}`, so `{first}`, the first of them, gets \
                     everything",
                    group.name
                ),
                advice,
            )
        })
        .collect()
}

fn tie(subject: &Subject<'_>) -> Vec<Hit> {
    by_cost(subject)
        .filter_map(|group| {
            let costs: Vec<f64> = subject.members(group).map(cost).collect();
            let least = costs.iter().copied().fold(f64::INFINITY, f64::min);
            let lowest: Vec<&str> = subject
                .members(group)
                .filter(|d| cost(d) <= least && !is_unknown(d))
                .map(|d| d.id.as_str())
                .collect();
            (lowest.len() > 1).then(|| {
                Hit::new(
                    subject.entry(group.members[0]),
                    format!(
                        "{} of `{}` have the lowest price alike, and the first of them gets everything \
                         within its limits",
                        listed(&lowest),
                        group.name
                    ),
                    "give rpm or tpm limits, or another strategy, if load is to be shared",
                )
            })
        })
        .collect()
}

fn half(subject: &Subject<'_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for group in by_cost(subject) {
        for &index in &group.members {
            let [input, output] = found(subject.deployment(index));
            let missing = match (input, output) {
                (Some(_), None) => "output_cost_per_token",
                (None, Some(_)) => "input_cost_per_token",
                (Some(_), Some(_)) | (None, None) => continue,
            };
            let path = subject.entry(index);
            let what = format!(
                "`{}` has no {missing}, which then counts as 5 dollars a token",
                subject.id(index)
            );
            hits.push(Hit::new(path, what, "give both prices"));
        }
    }
    hits
}

fn zero(subject: &Subject<'_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for group in by_cost(subject) {
        for &index in &group.members {
            let own = &subject.deployment(index).own_prices;
            let keys = [
                ("input_cost_per_token", own.input),
                ("output_cost_per_token", own.output),
            ];
            let Some((key, _)) = keys.iter().find(|(_, usd)| *usd == Some(0.0)) else {
                continue;
            };
            hits.push(Hit::new(
                subject.key_of(index, key),
                format!(
                    "a price of 0 is read as unknown, so `{}` ranks by the registry, or last",
                    subject.id(index)
                ),
                "give a very small price",
            ));
        }
    }
    hits
}

fn model_info(subject: &Subject<'_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for group in by_cost(subject) {
        for &index in &group.members {
            let info = &subject.facts(index).info_prices;
            if info.input.is_some() || info.output.is_some() {
                let entry = subject.entry(index);
                let keys = ["input_cost_per_token", "output_cost_per_token"];
                let path = keys
                    .map(|key| format!("{entry}.model_info.{key}"))
                    .into_iter()
                    .find(|path| subject.given(path).is_some());
                hits.push(Hit::new(
                    path.unwrap_or(entry),
                    "cost-based-routing does not look at prices in model_info",
                    "put them into litellm_params",
                ));
            }
        }
    }
    hits
}

/// What an unknown price counts as, in US dollars a token.
const UNKNOWN: f64 = 5.0;
