//! Tag routing: a request that names tags goes to deployments that have them, one that names none to
//! those tagged `default`. (semantics 8.7)
//!
//! A tag that begins with `!` bans deployments. `tag_regex` is sought in `User-Agent: …`. Tags are
//! numbered when the router is built, so that a pick compares numbers and allocates nothing.

use std::collections::BTreeMap;

use regex_lite::Regex;

use crate::{
    config::{DeploymentConfig, RouterConfig},
    error::ConfigError,
    filters::Sieve,
    observe::{Observer, PassedOver},
    request::{DeploymentId, Request},
    route_error::RouteError,
};

/// The tags of all deployments, and how they are matched.
#[derive(Debug)]
pub(crate) struct Tags {
    /// Numbers of the tags that some deployment has.
    numbers: BTreeMap<String, u32>,
    /// By deployment.
    of: Vec<OfDeployment>,
    /// One tag in common is enough; else all of the request's must be there.
    match_any: bool,
    /// Only tags that begin so are for routing; what follows it counts.
    prefix: Option<String>,
    /// The pool of the untagged serves tags that nobody has, and no others.
    only_unknown_tags_default: bool,
    /// Tags of deployments that were picked count as the request's from then on.
    join: bool,
    /// Scratch of the pick under way.
    asked: Asked,
}

#[derive(Debug)]
struct OfDeployment {
    /// In ascending order.
    tags: Box<[u32]>,
    patterns: Box<[Regex]>,
}

/// What a request asks for.
#[derive(Debug, Default)]
struct Asked {
    tags: Vec<u32>,
    bans: Vec<u32>,
    /// `User-Agent: …`, if it is told.
    agent: String,
}

impl Tags {
    /// `None` where `enable_tag_filtering` is off.
    ///
    /// # Errors
    /// If a pattern cannot be read, on or off.
    pub(crate) fn new(config: &RouterConfig) -> Result<Option<Self>, ConfigError> {
        let settings = &config.settings;
        let mut numbers = BTreeMap::from([(DEFAULT_TAG.to_owned(), DEFAULT)]);
        let mut of = Vec::with_capacity(config.deployments.len());
        for deployment in &config.deployments {
            let mut tags = Vec::with_capacity(deployment.tags.len());
            for tag in &deployment.tags {
                let next = u32::try_from(numbers.len()).expect("fewer than 2^32 tags");
                tags.push(*numbers.entry(tag.clone()).or_insert(next));
            }
            tags.sort_unstable();
            of.push(OfDeployment {
                tags: tags.into(),
                patterns: patterns(deployment)?,
            });
        }
        let prefix = settings.tag_routing_prefix.clone();
        let tags = Self {
            numbers,
            of,
            match_any: settings.tag_filtering_match_any.unwrap_or(true),
            prefix: prefix.filter(|p| !p.is_empty() && config.profile.knows_tag_prefix),
            only_unknown_tags_default: config.profile.only_unknown_tags_default,
            join: config.profile.deployment_tags_join,
            asked: Asked::default(),
        };
        Ok(settings.enable_tag_filtering.then_some(tags))
    }

    /// Whether the tags of who was picked count as the request's from now on.
    pub(crate) fn joins(&self, picked: DeploymentId) -> bool {
        self.join && !self.of[picked.index()].tags.is_empty()
    }

    /// Whether a pick has to look at tags at all.
    pub(crate) fn matter(
        &self,
        request: &Request,
        joined: &[DeploymentId],
        members: &[DeploymentId],
    ) -> bool {
        let overrides = request.overrides.as_deref();
        let tells = overrides.is_some_and(|o| !o.tags.is_empty() || o.user_agent.is_some());
        tells || !joined.is_empty() || members.iter().any(|&d| self.has(d, DEFAULT))
    }

    /// Passes over whoever the request's tags do not lead to; to leave nobody is an error.
    /// `joined` were picked before, `group` are all deployments of exactly the name that is asked for.
    pub(crate) fn filter(
        &mut self,
        sieve: &mut Sieve<'_, impl Observer>,
        request: &Request,
        joined: &[DeploymentId],
        group: impl Iterator<Item = DeploymentId>,
    ) -> Result<(), RouteError> {
        if sieve.left.is_empty() {
            return Ok(());
        }
        self.hear(request, joined);
        let this = &*self;
        let a_default = |left: &[DeploymentId]| left.iter().any(|&d| this.has(d, DEFAULT));
        let default_before_bans = a_default(sieve.left);
        sieve.keep(PassedOver::OtherTags, |d| !this.is_banned(d));
        let asked = &this.asked;
        let told = !asked.agent.is_empty();
        let by_agent = told
            && sieve
                .left
                .iter()
                .any(|d| !this.of[d.index()].patterns.is_empty());
        if !asked.tags.is_empty() || by_agent {
            if sieve.left.iter().any(|&d| this.matches(d)) {
                sieve.keep(PassedOver::OtherTags, |d| this.matches(d));
            } else if this.may_default(group) {
                sieve.keep(PassedOver::OtherTags, |d| this.has(d, DEFAULT));
            } else {
                sieve.keep(PassedOver::OtherTags, |_| false);
            }
        } else if default_before_bans {
            sieve.keep(PassedOver::OtherTags, |d| this.has(d, DEFAULT));
        }
        match sieve.left.is_empty() {
            true => Err(RouteError::NoMatchingTags),
            false => Ok(()),
        }
    }

    /// Takes down what the request asks for.
    fn hear(&mut self, request: &Request, joined: &[DeploymentId]) {
        let asked = &mut self.asked;
        asked.tags.clear();
        asked.bans.clear();
        asked.agent.clear();
        let numbers = &self.numbers;
        let number = |tag: &str| numbers.get(tag).copied();
        if let Some(overrides) = request.overrides.as_deref() {
            for tag in &overrides.tags {
                let tag = match &self.prefix {
                    None => Some(tag.as_str()),
                    Some(prefix) => tag.strip_prefix(prefix.as_str()),
                };
                match tag.map(|tag| (tag, tag.strip_prefix('!'))) {
                    None => {}
                    Some((_, Some(banned))) => asked.bans.extend(number(banned)),
                    Some((tag, None)) => asked.tags.push(number(tag).unwrap_or(UNKNOWN)),
                }
            }
            if let Some(agent) = &overrides.user_agent {
                asked.agent.push_str("User-Agent: ");
                asked.agent.push_str(agent);
            }
        }
        for deployment in joined {
            asked
                .tags
                .extend_from_slice(&self.of[deployment.index()].tags);
        }
    }

    fn has(&self, deployment: DeploymentId, tag: u32) -> bool {
        self.of[deployment.index()].tags.binary_search(&tag).is_ok()
    }

    fn is_banned(&self, deployment: DeploymentId) -> bool {
        self.asked.bans.iter().any(|&tag| self.has(deployment, tag))
    }

    /// Whether the request's tags lead to it. Where all of them must be there, tags of its own
    /// decide alone; else a pattern may too.
    fn matches(&self, deployment: DeploymentId) -> bool {
        let own = &self.of[deployment.index()];
        let tags = &self.asked.tags;
        let has = |&tag: &u32| self.has(deployment, tag);
        if !self.match_any && !own.tags.is_empty() {
            return !tags.is_empty() && tags.iter().all(has);
        }
        if tags.iter().any(has) {
            return true;
        }
        let agent = self.asked.agent.as_str();
        !agent.is_empty() && own.patterns.iter().any(|pattern| pattern.is_match(agent))
    }

    /// Whether tags that lead to nobody lead to the pool of the untagged. 1.110 looks at all who have the
    /// name that was asked for, the benched and the banned too; nobody has the name of an alias or of a
    /// called routing group. (observed, `tags-alias`, `tags-called-group*`)
    fn may_default(&self, mut group: impl Iterator<Item = DeploymentId>) -> bool {
        let tags = &self.asked.tags;
        if !self.only_unknown_tags_default || tags.is_empty() {
            return true;
        }
        self.prefix.is_none() && !group.any(|d| tags.iter().any(|&tag| self.has(d, tag)))
    }
}

/// The patterns of a deployment.
fn patterns(deployment: &DeploymentConfig) -> Result<Box<[Regex]>, ConfigError> {
    let compile = |pattern: &String| {
        Regex::new(pattern).map_err(|why| ConfigError::BadTagRegex {
            deployment: deployment.id.clone(),
            pattern: pattern.clone(),
            why: why.to_string(),
        })
    };
    deployment.tag_regex.iter().map(compile).collect()
}

/// The tag of who serves requests without tags.
const DEFAULT_TAG: &str = "default";
const DEFAULT: u32 = 0;
/// A tag that nobody has.
const UNKNOWN: u32 = u32::MAX;
