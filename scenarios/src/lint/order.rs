//! Tiers by `order` that change nothing, or that nobody gets to (semantics 6.6).

use std::collections::BTreeSet;

use super::{
    Severity,
    subject::{Group, Hit, Rule, Subject},
};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "order-of-lone-deployment",
        severity: Severity::Note,
        about: "an order in a model of one deployment",
        check: lone,
    },
    Rule {
        id: "order-all-equal",
        severity: Severity::Note,
        about: "the same order on every deployment of a model",
        check: equal,
    },
    Rule {
        id: "order-missing",
        severity: Severity::Warning,
        about: "deployments without an order beside others with one",
        check: missing,
    },
];

fn orders(subject: &Subject<'_>, group: &Group<'_>) -> Vec<i64> {
    subject
        .members(group)
        .filter_map(|deployment| deployment.order)
        .collect()
}

fn lone(subject: &Subject<'_>) -> Vec<Hit> {
    subject
        .groups
        .iter()
        .filter(|group| group.members.len() == 1 && !orders(subject, group).is_empty())
        .map(|group| {
            Hit::new(
                subject.key_of(group.members[0], "order"),
                format!(
                    "`{}` has one deployment, so its order changes nothing",
                    group.name
                ),
                "order ranks deployments of one model_name; fallbacks rank models",
            )
        })
        .collect()
}

fn equal(subject: &Subject<'_>) -> Vec<Hit> {
    subject
        .groups
        .iter()
        .filter(|group| {
            let orders = orders(subject, group);
            let distinct: BTreeSet<i64> = orders.iter().copied().collect();
            orders.len() > 1 && orders.len() == group.members.len() && distinct.len() == 1
        })
        .map(|group| {
            Hit::new(
                subject.key_of(group.members[0], "order"),
                format!(
                    "every deployment of `{}` has the same order, so it changes nothing",
                    group.name
                ),
                "give spares a greater order",
            )
        })
        .collect()
}

fn missing(subject: &Subject<'_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for group in &subject.groups {
        let bare: Vec<usize> = group
            .members
            .iter()
            .copied()
            .filter(|&index| subject.deployment(index).order.is_none())
            .collect();
        if bare.is_empty() || orders(subject, group).is_empty() {
            continue;
        }
        hits.push(Hit::new(
            subject.entry(bare[0]),
            format!(
                "{} of `{}` has no order and gets requests only while every deployment with one is \
                 cooling down; a tier that fails without cooling never leads there",
                subject.ids(&bare),
                group.name
            ),
            "give every deployment of the model an order",
        ));
    }
    hits
}
