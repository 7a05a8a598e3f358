//! Fallbacks that go nowhere, in circles, or less far than they look (semantics 6).

use std::collections::{BTreeMap, BTreeSet};

use router::config::Fallbacks;

use super::{
    Severity,
    subject::{Hit, Rule, Subject, listed, name_advice, plural},
};
use crate::yaml::join;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "fallback-target-unknown",
        severity: Severity::Error,
        about: "a fallback that names no model",
        check: unknown_targets,
    },
    Rule {
        id: "fallback-of-unknown-model",
        severity: Severity::Warning,
        about: "fallbacks of a name that nobody can ask for",
        check: unknown_sources,
    },
    Rule {
        id: "fallback-to-itself",
        severity: Severity::Warning,
        about: "a model that falls back to itself",
        check: to_itself,
    },
    Rule {
        id: "fallback-entry-repeated",
        severity: Severity::Warning,
        about: "a second list of fallbacks for the same model",
        check: repeated,
    },
    Rule {
        id: "fallback-cycle",
        severity: Severity::Note,
        about: "models that fall back to each other",
        check: cycles,
    },
    Rule {
        id: "fallback-beyond-max-fallbacks",
        severity: Severity::Warning,
        about: "a chain of fallbacks longer than max_fallbacks",
        check: beyond_depth,
    },
    Rule {
        id: "max-fallbacks-zero",
        severity: Severity::Warning,
        about: "max_fallbacks: 0 beside fallbacks or order tiers",
        check: no_depth,
    },
    Rule {
        id: "context-window-fallbacks-hide-others",
        severity: Severity::Warning,
        about: "context_window_fallbacks that turn the generic ones off for other models",
        check: hidden_by_context_window,
    },
    Rule {
        id: "content-policy-fallbacks-hide-others",
        severity: Severity::Warning,
        about: "content_policy_fallbacks that turn the generic ones off for other models",
        check: hidden_by_content_policy,
    },
    Rule {
        id: "alias-without-fallbacks",
        severity: Severity::Warning,
        about: "an alias of a model whose fallbacks do not apply to it",
        check: bare_aliases,
    },
];

/// The three lists, with their names.
fn lists<'a>(subject: &Subject<'a>) -> Vec<(&'static str, &'a Fallbacks)> {
    let settings = subject.settings();
    [
        ("fallbacks", settings.fallbacks.as_ref()),
        (
            "context_window_fallbacks",
            settings.context_window_fallbacks.as_ref(),
        ),
        (
            "content_policy_fallbacks",
            settings.content_policy_fallbacks.as_ref(),
        ),
    ]
    .into_iter()
    .filter_map(|(name, list)| Some((name, list?)))
    .collect()
}

/// The path of a target, as far as the file has it.
fn target_path(
    subject: &Subject<'_>,
    list: &str,
    entry: usize,
    from: &str,
    target: usize,
) -> String {
    let list = subject.setting_or_section(list);
    join(&format!("{list}[{entry}]"), from) + &format!("[{target}]")
}

fn entry_path(subject: &Subject<'_>, list: &str, entry: usize) -> String {
    format!("{}[{entry}]", subject.setting_or_section(list))
}

fn unknown_targets(subject: &Subject<'_>) -> Vec<Hit> {
    let mut targets: Vec<(String, &str)> = Vec::new();
    for (list, entries) in lists(subject) {
        for (index, (from, to)) in entries.iter().enumerate() {
            for (place, target) in to.iter().enumerate() {
                targets.push((target_path(subject, list, index, from, place), target));
            }
        }
    }
    let default = &subject.settings().default_fallbacks;
    let path = subject.setting_or_section("default_fallbacks");
    targets.extend(
        (0..)
            .zip(default)
            .map(|(place, target): (usize, _)| (format!("{path}[{place}]"), target.as_str())),
    );
    targets
        .into_iter()
        .filter(|(_, target)| !subject.is_served(target))
        .map(|(path, target)| {
            let what = match default.first().filter(|first| subject.is_served(first)) {
                Some(first) => format!(
                    "no model is called `{target}`, so its requests go to `{first}`, the first \
                     default fallback"
                ),
                None => format!("no model is called `{target}`, so this step always fails"),
            };
            Hit::new(path, what, name_advice(subject, target))
        })
        .collect()
}

fn unknown_sources(subject: &Subject<'_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for (list, entries) in lists(subject) {
        for (index, (from, _)) in entries.iter().enumerate() {
            // A provider's prefix may be left out (semantics 6.4).
            let bare = |name: &&str| name.split_once('/').is_some_and(|(_, bare)| bare == from);
            if from != "*" && !subject.is_served(from) && !subject.names().iter().any(bare) {
                hits.push(Hit::new(
                    entry_path(subject, list, index),
                    format!("no model is called `{from}`, so these fallbacks are never used"),
                    name_advice(subject, from),
                ));
            }
        }
    }
    hits
}

fn to_itself(subject: &Subject<'_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for (list, entries) in lists(subject) {
        for (index, (from, to)) in entries.iter().enumerate() {
            for (place, _) in to.iter().enumerate().filter(|(_, target)| *target == from) {
                hits.push(Hit::new(
                    target_path(subject, list, index, from, place),
                    format!("`{from}` falls back to itself, which LiteLLM passes over"),
                    "take it out, and raise num_retries if more tries are meant",
                ));
            }
        }
    }
    hits
}

fn repeated(subject: &Subject<'_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for (list, entries) in lists(subject) {
        for (index, (from, _)) in entries.iter().enumerate() {
            if entries[..index].iter().any(|(earlier, _)| earlier == from) {
                hits.push(Hit::new(
                    entry_path(subject, list, index),
                    format!("`{from}` has fallbacks further up, and only the first list counts"),
                    "put the names of both into one list",
                ));
            }
        }
    }
    hits
}

/// Where a model goes when it fails: its own list, else that of `*`, else the default ones.
fn generic<'a>(subject: &Subject<'a>, from: &str) -> &'a [String] {
    let settings = subject.settings();
    let list = |name: &str| {
        let mut entries = settings.fallbacks.iter().flatten();
        entries
            .find(|(key, _)| key == name)
            .map(|(_, to)| to.as_slice())
    };
    list(from)
        .or_else(|| list("*"))
        .unwrap_or(&settings.default_fallbacks)
}

/// Models that can be reached from each other, each circle once.
fn cycles(subject: &Subject<'_>) -> Vec<Hit> {
    let reach: BTreeMap<&str, BTreeSet<&str>> = subject
        .groups
        .iter()
        .map(|group| (group.name, reachable(subject, group.name)))
        .collect();
    let mut told: BTreeSet<&str> = BTreeSet::new();
    let mut hits = Vec::new();
    for (name, there) in &reach {
        let back = |other: &&&str| reach.get(**other).is_some_and(|back| back.contains(name));
        let circle: Vec<&str> = there
            .iter()
            .filter(|other| *other != name)
            .filter(back)
            .copied()
            .collect();
        if circle.is_empty() || !told.insert(name) {
            continue;
        }
        told.extend(&circle);
        let members: Vec<&str> = [*name].into_iter().chain(circle).collect();
        let key = if subject.settings().fallbacks.is_some() {
            "fallbacks"
        } else {
            "default_fallbacks"
        };
        let what = format!("{} fall back to each other", listed(&members));
        let mut hit = if subject.profile().fallback_targets_once {
            let each = "; each of them is tried once for a request";
            Hit::new(
                subject.setting_or_section(key),
                what + each,
                "nothing needs to be done",
            )
        } else {
            let again = ", and each walks the list of the other again down to max_fallbacks, so one \
                         request can make dozens of attempts while all of them fail";
            let advice = "let chains end, or lower max_fallbacks";
            Hit::new(subject.setting_or_section(key), what + again, advice)
        };
        if !subject.profile().fallback_targets_once {
            hit.severity = Some(Severity::Warning);
        }
        hits.push(hit);
    }
    hits
}

fn reachable<'a>(subject: &Subject<'a>, from: &str) -> BTreeSet<&'a str> {
    let mut there: BTreeSet<&str> = BTreeSet::new();
    let mut open: Vec<&str> = generic(subject, from).iter().map(String::as_str).collect();
    while let Some(name) = open.pop() {
        if there.insert(name) {
            let next = generic(subject, name).iter().map(String::as_str);
            open.extend(next.filter(|next| *next != name));
        }
    }
    there
}

/// Targets that only a longer walk than `max_fallbacks` would reach from a model: the depth is that of
/// lists within lists, not their length.
fn beyond_depth(subject: &Subject<'_>) -> Vec<Hit> {
    let most = subject.settings().max_fallbacks.unwrap_or(MAX_FALLBACKS);
    if most == 0 || subject.settings().fallbacks.is_none() {
        return Vec::new();
    }
    let mut worst: Option<(&str, Vec<&str>)> = None;
    for group in &subject.groups {
        let (mut seen, mut level) = (BTreeSet::from([group.name]), vec![group.name]);
        for _ in 0..most {
            level = next_level(subject, &level, &mut seen);
        }
        let beyond = next_level(subject, &level, &mut seen);
        if !beyond.is_empty() && worst.is_none() {
            worst = Some((group.name, beyond));
        }
    }
    worst
        .map(|(from, beyond)| {
            Hit::new(
                subject.setting_or_section("max_fallbacks"),
                format!(
                    "from `{from}` the walk ends after {most} {}, before {}",
                    plural(usize::try_from(most).unwrap_or(usize::MAX), "list", "lists"),
                    listed(&beyond)
                ),
                "name the targets in one list, which is walked whole, or raise max_fallbacks",
            )
        })
        .into_iter()
        .collect()
}

fn next_level<'a>(
    subject: &Subject<'a>,
    level: &[&str],
    seen: &mut BTreeSet<&'a str>,
) -> Vec<&'a str> {
    let targets = level.iter().flat_map(|from| generic(subject, from));
    targets
        .map(String::as_str)
        .filter(|target| seen.insert(*target))
        .collect()
}

fn no_depth(subject: &Subject<'_>) -> Vec<Hit> {
    let settings = subject.settings();
    let has_tiers = subject.groups.iter().any(|group| {
        let orders: BTreeSet<_> = subject.members(group).filter_map(|d| d.order).collect();
        orders.len() > 1
    });
    let has_lists = !lists(subject).is_empty() || !settings.default_fallbacks.is_empty();
    if settings.max_fallbacks != Some(0) || !(has_lists || has_tiers) {
        return Vec::new();
    }
    vec![Hit::new(
        subject.setting_or_section("max_fallbacks"),
        "max_fallbacks is 0, so no fallback and no later order tier is ever tried",
        "give 1 or more, or take the fallbacks out",
    )]
}

fn hidden_by_context_window(subject: &Subject<'_>) -> Vec<Hit> {
    if subject.profile().context_window_reaches_generic {
        return Vec::new();
    }
    let special = subject.settings().context_window_fallbacks.as_ref();
    hidden_by(
        subject,
        "context_window_fallbacks",
        special,
        "a prompt is too long",
    )
}

fn hidden_by_content_policy(subject: &Subject<'_>) -> Vec<Hit> {
    let special = subject.settings().content_policy_fallbacks.as_ref();
    hidden_by(
        subject,
        "content_policy_fallbacks",
        special,
        "a content policy refuses",
    )
}

/// Models with generic fallbacks that have no entry in a list of special ones.
fn hidden_by(
    subject: &Subject<'_>,
    list: &str,
    special: Option<&Fallbacks>,
    when: &str,
) -> Vec<Hit> {
    let Some(special) = special else {
        return Vec::new();
    };
    let without: Vec<&str> = subject
        .groups
        .iter()
        .map(|group| group.name)
        .filter(|name| !generic(subject, name).is_empty())
        .filter(|name| special.iter().all(|(key, _)| key != name))
        .collect();
    if without.is_empty() {
        return Vec::new();
    }
    let what = format!(
        "with {list} given, {} {} to nothing when {when}",
        listed(&without),
        plural(without.len(), "falls back", "fall back"),
    );
    vec![Hit::new(
        subject.setting_or_section(list),
        what,
        format!("give each of them an entry in {list}"),
    )]
}

fn bare_aliases(subject: &Subject<'_>) -> Vec<Hit> {
    let settings = subject.settings();
    let own = |name: &str| {
        settings
            .fallbacks
            .iter()
            .flatten()
            .any(|(key, _)| key == name)
    };
    settings
        .model_group_alias
        .iter()
        .filter(|(alias, target)| own(target) && !own(alias) && generic(subject, alias).is_empty())
        .map(|(alias, target)| {
            Hit::new(
                join("router_settings.model_group_alias", alias),
                format!(
                    "the fallbacks of `{target}` do not apply to requests for its alias `{alias}`"
                ),
                format!("add an entry for `{alias}` to fallbacks"),
            )
        })
        .collect()
}

/// LiteLLM's default of `max_fallbacks`.
const MAX_FALLBACKS: u32 = 5;
