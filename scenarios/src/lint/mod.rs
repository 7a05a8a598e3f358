//! What in a config probably does something else than its author meant: settings without effect,
//! fallbacks that are never reached, deployments that nobody gets to, prices that nobody knows.
//!
//! A finding is no error of reading: LiteLLM starts with it, and so does a run. Every finding rests on
//! a rule of LiteLLM's Router, and on the profile where versions differ. Rules are pure functions of the
//! config; each stands in the file of its topic, and in the catalogue below. `routelab check` prints
//! them.

mod catalogue;
mod cooldowns;
mod deployments;
mod fallbacks;
mod filters;
mod idle_senders;
mod instances;
mod limits;
mod names;
mod order;
mod prices;
mod retries;
mod senders;
mod subject;
mod weights;
mod zeros;

use std::fmt;

use router::RouterConfig;

pub use self::catalogue::{CatalogueEntry, catalogue};
use self::subject::Subject;
use crate::{litellm::LitellmConfig, plan::Instances, workload::Workload, yaml::Node};

/// What a scenario has around its config.
#[derive(Clone, Copy, Debug)]
pub struct Around<'a> {
    /// Whose requests it serves.
    pub workload: &'a Workload,
    /// The instances of the router.
    pub instances: Instances,
}

/// One finding.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The rule's name, in lower case with hyphens. It stays the same from version to version.
    pub id: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// The file that the config stands in.
    pub file: String,
    /// The line of `path`, from 1; 0 for what was set from outside of the file.
    pub line: u32,
    /// The key that it is about.
    pub path: String,
    /// What is the case, in one sentence.
    pub what: String,
    /// What to do about it, in one sentence.
    pub advice: String,
}

/// How bad a finding is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Severity {
    /// It cannot do what it says: a name that does not exist, a setting that LiteLLM does not start
    /// with.
    Error,
    /// It does something else than it looks like.
    Warning,
    /// Worth knowing.
    Note,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        })
    }
}

/// On one line: `warning config.yaml:12 key: what is the case → what to do [rule]`.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            id,
            severity,
            file,
            line,
            path,
            what,
            advice,
        } = self;
        write!(f, "{severity} {file}")?;
        if *line > 0 {
            write!(f, ":{line}")?;
        }
        write!(f, " {path}: {what} → {advice} [{id}]")
    }
}

/// The findings of a config, the worst first, and then in the order of the file.
///
/// `router` is what the config gives under a profile and with a price registry, if there is one;
/// `node` is the config as a tree, `file` its name. `around` is the scenario that it is run in; `None` for
/// a config alone.
#[must_use]
pub fn findings(
    config: &LitellmConfig,
    router: &RouterConfig,
    node: &Node,
    file: &str,
    around: Option<Around<'_>>,
) -> Vec<Finding> {
    let subject = Subject::new(config, router, node, around);
    let mut findings: Vec<Finding> = catalogue::RULES
        .iter()
        .flat_map(|rules| rules.iter())
        .flat_map(|rule| {
            let hits = (rule.check)(&subject);
            hits.into_iter().map(|hit| Finding {
                id: rule.id,
                severity: hit.severity.unwrap_or(rule.severity),
                file: file.to_owned(),
                line: subject.line(&hit.path),
                path: hit.path,
                what: hit.what,
                advice: hit.advice,
            })
        })
        .collect();
    findings.sort_by_key(|finding| (finding.severity, finding.line));
    findings
}
