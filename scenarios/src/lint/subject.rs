//! A config as the rules look at it: by group, with the places of its keys.

use std::collections::BTreeMap;

use router::{DeploymentConfig, Profile, RouterConfig, RouterSettings, StrategySpec};

use crate::{
    error::did_you_mean,
    lint::Around,
    litellm::{DeploymentFacts, LitellmConfig},
    providers::glob,
    yaml::{Node, Value, join},
};

/// What the rules look at.
pub(super) struct Subject<'a> {
    pub(super) config: &'a LitellmConfig,
    pub(super) router: &'a RouterConfig,
    pub(super) groups: Vec<Group<'a>>,
    /// The scenario that it is run in; `None` for a config alone.
    pub(super) around: Option<Around<'a>>,
    node: &'a Node,
}

/// All deployments of one `model_name`.
pub(super) struct Group<'a> {
    pub(super) name: &'a str,
    /// Places in the router's list.
    pub(super) members: Vec<usize>,
}

/// What a rule found.
pub(super) struct Hit {
    pub(super) path: String,
    pub(super) what: String,
    pub(super) advice: String,
    /// In place of the rule's own.
    pub(super) severity: Option<super::Severity>,
}

/// One rule.
pub(super) struct Rule {
    pub(super) id: &'static str,
    pub(super) severity: super::Severity,
    /// What it finds, for the list of findings.
    pub(super) about: &'static str,
    pub(super) check: fn(&Subject<'_>) -> Vec<Hit>,
}

impl Hit {
    pub(super) fn new(
        path: impl Into<String>,
        what: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self {
            path: path.into(),
            what: what.into(),
            advice: advice.into(),
            severity: None,
        }
    }
}

impl<'a> Subject<'a> {
    pub(super) fn new(
        config: &'a LitellmConfig,
        router: &'a RouterConfig,
        node: &'a Node,
        around: Option<Around<'a>>,
    ) -> Self {
        let mut groups: Vec<Group<'a>> = Vec::new();
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        for (index, deployment) in router.deployments.iter().enumerate() {
            let name = deployment.model_name.as_str();
            let place = *places.entry(name).or_insert(groups.len());
            if place == groups.len() {
                let members = Vec::new();
                groups.push(Group { name, members });
            }
            groups[place].members.push(index);
        }
        Self {
            config,
            router,
            groups,
            around,
            node,
        }
    }

    pub(super) const fn settings(&self) -> &'a RouterSettings {
        &self.router.settings
    }

    pub(super) const fn profile(&self) -> &'a Profile {
        &self.router.profile
    }

    /// A deployment's id, cut short where it is a hash.
    pub(super) fn id(&self, index: usize) -> String {
        let id = &self.deployment(index).id;
        let is_hash = id.len() == 64 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_hash {
            format!("{}…", &id[..8])
        } else {
            id.clone()
        }
    }

    /// The ids of these deployments, for a sentence.
    pub(super) fn ids(&self, indices: &[usize]) -> String {
        let ids: Vec<String> = indices.iter().map(|&index| self.id(index)).collect();
        listed(&ids)
    }

    pub(super) fn deployment(&self, index: usize) -> &'a DeploymentConfig {
        &self.router.deployments[index]
    }

    pub(super) fn members<'s>(
        &'s self,
        group: &'s Group<'a>,
    ) -> impl Iterator<Item = &'a DeploymentConfig> + use<'s, 'a> {
        group.members.iter().map(|&index| self.deployment(index))
    }

    pub(super) fn facts(&self, index: usize) -> &'a DeploymentFacts {
        &self.config.facts[index]
    }

    pub(super) fn group(&self, name: &str) -> Option<&Group<'a>> {
        self.groups.iter().find(|group| group.name == name)
    }

    /// Whether a request for this name finds deployments (semantics 2.3.2).
    pub(super) fn is_served(&self, name: &str) -> bool {
        let settings = self.settings();
        let by_deployment = |d: &DeploymentConfig| {
            d.model_name == name
                || d.id == name
                || d.model == name
                || (d.model_name.contains('*') && glob(&format!("{}*", d.model_name), name))
        };
        let callable = self.profile().routing_groups_callable;
        let by_group = settings.routing_groups.iter().any(|g| g.group_name == name);
        settings.model_group_alias.contains_key(name)
            || self.router.deployments.iter().any(by_deployment)
            || (callable && by_group)
    }

    /// Names that can be asked for, for suggestions.
    pub(super) fn names(&self) -> Vec<&'a str> {
        let aliases = self.settings().model_group_alias.keys().map(String::as_str);
        self.groups
            .iter()
            .map(|group| group.name)
            .chain(aliases)
            .collect()
    }

    /// Whether a model falls back to another one.
    pub(super) fn has_fallback(&self, name: &str) -> bool {
        let settings = self.settings();
        let mut lists = settings.fallbacks.iter().flatten();
        let leads_on = |to: &[String]| to.iter().any(|target| target != name);
        leads_on(&settings.default_fallbacks)
            || lists.any(|(key, to)| (key == name || key == "*") && leads_on(to))
    }

    /// The strategy of a group's own name (semantics 1.8).
    pub(super) fn strategy(&self, group: &str) -> &'a StrategySpec {
        let settings = self.settings();
        let governing = settings.routing_groups.iter().find(|g| {
            g.routing_strategy != StrategySpec::Priority && g.models.iter().any(|m| m == group)
        });
        governing.map_or(&settings.routing_strategy, |g| &g.routing_strategy)
    }

    /// The provider of a deployment.
    pub(super) fn provider(&self, index: usize) -> Option<&'a str> {
        self.deployment(index).provider()
    }

    /// The path of a setting that the router or the library has, and where it stands.
    pub(super) fn setting(&self, key: &str) -> Option<String> {
        ["router_settings", "litellm_settings"]
            .into_iter()
            .map(|section| format!("{section}.{key}"))
            .find(|path| self.given(path).is_some())
    }

    /// The path of a setting, or of the section where it would stand.
    pub(super) fn setting_or_section(&self, key: &str) -> String {
        self.setting(key)
            .unwrap_or_else(|| "router_settings".to_owned())
    }

    /// The value at a path, unless it is null.
    pub(super) fn given(&self, path: &str) -> Option<&'a Node> {
        self.node.at_path(path).filter(|node| !node.is_null())
    }

    /// Whether a number stands at this path and is zero.
    pub(super) fn is_zero(&self, path: &str) -> bool {
        self.given(path).is_some_and(|node| match &node.value {
            Value::Int(number) => *number == 0,
            Value::Float(number) => *number == 0.0,
            Value::Str(text) => text.trim().parse::<f64>() == Ok(0.0),
            Value::Null | Value::Bool(_) | Value::Seq(_) | Value::Map(_) => false,
        })
    }

    /// The path of an entry of `model_list`.
    pub(super) fn entry(&self, index: usize) -> String {
        format!("model_list[{}]", self.facts(index).entry)
    }

    /// The path of a deployment's key, wherever in its entry it stands.
    pub(super) fn key_of(&self, index: usize, key: &str) -> String {
        let entry = self.entry(index);
        [".litellm_params", "", ".model_info"]
            .into_iter()
            .map(|section| format!("{entry}{section}.{key}"))
            .find(|path| self.given(path).is_some())
            .unwrap_or(entry)
    }

    /// The line of a key or item; 0 if it stands in no file.
    pub(super) fn line(&self, path: &str) -> u32 {
        let of_key = || {
            let (parent, key) = split(path)?;
            let map = self
                .node
                .at_path(parent)
                .or_else(|| parent.is_empty().then_some(self.node))?;
            let entries = &map.as_map()?.entries;
            let found = entries
                .iter()
                .find(|entry| join("", &entry.key.name) == key);
            found.map(|entry| entry.key.line)
        };
        of_key()
            .or_else(|| self.node.at_path(path).map(|node| node.line))
            .unwrap_or(0)
    }
}

/// A path as its parent and its last key, if that is one of a mapping.
fn split(path: &str) -> Option<(&str, &str)> {
    if path.ends_with(']') {
        return None;
    }
    if let Some(inside) = path.strip_suffix('"') {
        let start = inside.rfind('"')?;
        return Some((path[..start].trim_end_matches('.'), &path[start..]));
    }
    Some(path.rsplit_once('.').unwrap_or(("", path)))
}

/// What to do about a name that no model has.
pub(super) fn name_advice(subject: &Subject<'_>, name: &str) -> String {
    did_you_mean(name, subject.names()).map_or_else(
        || "give a model_name, an alias or the id of a deployment".to_owned(),
        |near| format!("did you mean `{near}`?"),
    )
}

/// Some names in a sentence: `a`, `a` and `b`, or the first three and how many more.
pub(super) fn listed<S: AsRef<str>>(names: &[S]) -> String {
    let quoted: Vec<String> = names
        .iter()
        .map(|name| format!("`{}`", name.as_ref()))
        .collect();
    match quoted.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [one, other] => format!("{one} and {other}"),
        [one, other, third] => format!("{one}, {other} and {third}"),
        [one, other, third, more @ ..] => {
            format!("{one}, {other}, {third} and {} more", more.len())
        }
    }
}

/// `one` or `many`, by the number.
pub(super) const fn plural(count: usize, one: &'static str, many: &'static str) -> &'static str {
    if count == 1 { one } else { many }
}
