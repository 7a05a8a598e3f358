//! From `workload.senders` to [`Senders`]: what is accepted, and what its words mean to the router.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use router::{Api, Overrides, RequestFallbacks, config::Fallbacks};

use super::{
    Mix, Sender, Senders, Sessions, SharedPrefix,
    pool::{POOL_AT_MOST, Pool},
    spec::{ApiSpec, FallbackSpec, SenderSpec, SharedPrefixSpec},
};
use crate::{
    error::{ScenarioError, suggestion},
    schema::NameOr,
    workload::arrivals::{number, span},
    yaml::join,
};

/// What senders may ask for, and what holds where they say nothing.
pub(crate) struct Askable<'a> {
    /// Names that may be asked for.
    pub names: &'a [String],
    /// The models asked for so far; those of senders are added.
    pub models: &'a mut Vec<String>,
    /// `workload.stream_share`.
    pub stream_share: f64,
    /// `workload.max_tokens`.
    pub max_tokens: Option<u32>,
}

type Result<T> = std::result::Result<T, ScenarioError>;

/// The senders of a workload. Errors name their key from `senders` on.
pub(crate) fn senders(
    specs: &BTreeMap<String, SenderSpec>,
    askable: &mut Askable<'_>,
) -> Result<Option<Box<Senders>>> {
    if specs.is_empty() {
        return Ok(None);
    }
    if specs.len() > SENDERS_AT_MOST {
        return Err(ScenarioError::new(format!("found {} senders", specs.len()))
            .key("senders")
            .help(format!("accepted are up to {SENDERS_AT_MOST}")));
    }
    let shares = shares(specs)?;
    let mut each = Vec::with_capacity(specs.len());
    for ((name, spec), share) in specs.iter().zip(&shares) {
        let read = Reader {
            at: join("senders", name),
            spec,
            share: *share,
        };
        each.push(read.sender(askable)?);
    }
    let mut sum = 0.0;
    let mut up_to: Vec<f64> = shares
        .iter()
        .map(|share| {
            sum += share;
            sum
        })
        .collect();
    if let Some(last) = up_to
        .last_mut()
        .filter(|last| (1.0 - **last).abs() < ROUNDING)
    {
        *last = 1.0;
    }
    Ok(Some(Box::new(Senders {
        names: specs.keys().cloned().collect(),
        each,
        up_to,
    })))
}

/// Each sender's share of the traffic.
fn shares(specs: &BTreeMap<String, SenderSpec>) -> Result<Vec<f64>> {
    let mut sum = 0.0;
    let mut without = None;
    for (name, spec) in specs {
        let key = join(&join("senders", name), "share");
        match (spec.share, &without) {
            (Some(share), _) if share > 0.0 && share <= 1.0 => sum += share,
            (Some(share), _) => return Err(number(&key, share, "a share above 0 and up to 1")),
            (None, None) => without = Some(key),
            (None, Some(_)) => {
                return Err(ScenarioError::new("two senders have no share")
                    .key(key)
                    .help("accepted is one that takes what the others leave"));
            }
        }
    }
    let left = 1.0 - sum;
    if left < -ROUNDING || (without.is_some() && left < ROUNDING) {
        return Err(ScenarioError::new(format!("the shares add up to {sum:.3}"))
            .key(without.unwrap_or_else(|| "senders".to_owned()))
            .help("accepted is up to 1, and less if one sender takes what is left"));
    }
    Ok(specs
        .values()
        .map(|spec| spec.share.unwrap_or(left))
        .collect())
}

/// Reads one sender.
struct Reader<'a> {
    at: String,
    spec: &'a SenderSpec,
    share: f64,
}

impl Reader<'_> {
    fn sender(&self, askable: &mut Askable<'_>) -> Result<Sender> {
        let spec = self.spec;
        let stream_share = spec.stream_share.unwrap_or(askable.stream_share);
        if !(0.0..=1.0).contains(&stream_share) {
            return Err(number(
                &self.key("stream_share"),
                stream_share,
                "a share from 0 to 1",
            ));
        }
        let max_tokens = self.whole("max_tokens", spec.max_tokens, 1, TOKENS_AT_MOST)?;
        let embeds = spec.api == Some(ApiSpec::Embedding);
        let shared_prefix = spec.shared_prefix.map(|prefix| self.prefix(prefix));
        let sessions = self.sessions()?;
        let has_history = sessions.is_some_and(|sessions| sessions.history_tokens > 0);
        if spec.cache_control.is_some() && spec.shared_prefix.is_none() && !has_history {
            let nothing = "there is nothing for the marks to stand behind";
            return Err(ScenarioError::new(nothing)
                .key(self.key("cache_control"))
                .help("give `shared_prefix` or `sessions.history_tokens`, or leave it out"));
        }
        let overrides = self.overrides(askable.names)?;
        Ok(Sender {
            models: self.mix(askable)?,
            stream_share: if embeds { 0.0 } else { stream_share },
            max_tokens: max_tokens.or(askable.max_tokens),
            callers: spec.callers.unwrap_or(0),
            sessions,
            repeats: self.repeats()?,
            shared_prefix: shared_prefix.transpose()?,
            marked: spec.cache_control.unwrap_or(true),
            priority: spec.priority,
            overrides: (overrides != Overrides::default()).then(|| Arc::new(overrides)),
            batch: spec.batch.unwrap_or(false),
            embeds,
        })
    }

    fn key(&self, name: &str) -> String {
        format!("{}.{name}", self.at)
    }

    /// A whole number within bounds, if it is given.
    fn whole(&self, name: &str, found: Option<u32>, least: u32, most: u32) -> Result<Option<u32>> {
        match found {
            Some(found) if !(least..=most).contains(&found) => {
                let accepted = format!("a whole number from {least} to {most}");
                Err(number(&self.key(name), f64::from(found), accepted))
            }
            found => Ok(found),
        }
    }

    fn sessions(&self) -> Result<Option<Sessions>> {
        let Some(spec) = self.spec.sessions else {
            return Ok(None);
        };
        self.whole("sessions.live", Some(spec.live), 1, POOL_AT_MOST)?;
        if !(1.0..=TURNS_AT_MOST).contains(&spec.turns) {
            let accepted = format!("from 1 to {TURNS_AT_MOST} requests");
            return Err(number(&self.key("sessions.turns"), spec.turns, accepted));
        }
        let most = PREFIX_AT_MOST;
        let history = self.whole("sessions.history_tokens", spec.history_tokens, 0, most)?;
        let history_tokens = history.unwrap_or(0);
        if f64::from(history_tokens) * spec.turns > f64::from(TOKENS_AT_MOST) {
            return Err(
                ScenarioError::new("the last prompts of a session would be too long")
                    .key(self.key("sessions.history_tokens"))
                    .help(format!(
                        "accepted are up to {TOKENS_AT_MOST} tokens over all turns"
                    )),
            );
        }
        Ok(Some(Sessions {
            live: spec.live,
            turns: spec.turns,
            period: f64::from(spec.live) * spec.turns / self.share,
            history_tokens,
        }))
    }

    fn repeats(&self) -> Result<Option<(f64, Pool)>> {
        let Some(spec) = self.spec.repeats else {
            return Ok(None);
        };
        if !(spec.share > 0.0 && spec.share <= 1.0) {
            let key = self.key("repeats.share");
            return Err(number(&key, spec.share, "a share above 0 and up to 1"));
        }
        let pool = self.pool("repeats", spec.pool, spec.skew)?;
        Ok(Some((spec.share, pool)))
    }

    fn prefix(&self, spec: SharedPrefixSpec) -> Result<SharedPrefix> {
        self.whole("shared_prefix.tokens", Some(spec.tokens), 1, PREFIX_AT_MOST)?;
        Ok(SharedPrefix {
            tokens: spec.tokens,
            pool: self.pool("shared_prefix", spec.pool.unwrap_or(1), spec.skew)?,
        })
    }

    fn pool(&self, name: &str, size: u32, skew: Option<f64>) -> Result<Pool> {
        self.whole(&format!("{name}.pool"), Some(size), 1, POOL_AT_MOST)?;
        let skew = skew.unwrap_or(0.0);
        if !(0.0..=SKEW_AT_MOST).contains(&skew) {
            let key = self.key(&format!("{name}.skew"));
            return Err(number(&key, skew, format!("from 0 to {SKEW_AT_MOST}")));
        }
        Ok(Pool::new(size, skew))
    }

    /// Its own models, which are added to those asked for.
    fn mix(&self, askable: &mut Askable<'_>) -> Result<Option<Mix>> {
        let Some(models) = &self.spec.models else {
            return Ok(None);
        };
        let key = self.key("models");
        let (names, up_to) = crate::traffic::mix(models, askable.names, &key)?;
        let mut places = Vec::with_capacity(names.len());
        for name in names {
            let known = askable.models.iter().position(|known| *known == name);
            let place = known.unwrap_or_else(|| {
                askable.models.push(name);
                askable.models.len() - 1
            });
            let too_many = |_| ScenarioError::new("more than 65,535 models").key(key.clone());
            places.push(u16::try_from(place).map_err(too_many)?);
        }
        Ok(Some(Mix {
            models: places,
            up_to,
        }))
    }

    fn overrides(&self, names: &[String]) -> Result<Overrides> {
        let spec = self.spec;
        let by_group = |key: &str, lists: &Option<Vec<BTreeMap<String, Vec<String>>>>| match lists {
            None => Ok(None),
            Some(lists) => self.by_group(key, lists, names).map(Some),
        };
        let (window, policy) = ("context_window_fallbacks", "content_policy_fallbacks");
        Ok(Overrides {
            num_retries: self.whole("num_retries", spec.num_retries, 0, RETRIES_AT_MOST)?,
            max_retries: self.whole("max_retries", spec.max_retries, 0, RETRIES_AT_MOST)?,
            api: match spec.api {
                None | Some(ApiSpec::Chat) => Api::Chat,
                Some(ApiSpec::Embedding) => Api::Embedding,
            },
            blocking: spec.blocking.unwrap_or(false),
            timeout: self.time("timeout", spec.timeout)?,
            stream_timeout: self.time("stream_timeout", spec.stream_timeout)?,
            // An undocumented key of a call, which senders do not have.
            cooldown_time: None,
            disable_fallbacks: spec.disable_fallbacks.unwrap_or(false),
            fallbacks: match &spec.fallbacks {
                None => None,
                Some(entries) => Some(self.fallbacks(entries, names)?),
            },
            context_window_fallbacks: by_group(window, &spec.context_window_fallbacks)?,
            content_policy_fallbacks: by_group(policy, &spec.content_policy_fallbacks)?,
            tags: self.tags()?,
            user_agent: spec.user_agent.clone(),
            allowed_model_region: spec.allowed_model_region.clone(),
            no_cache: spec.no_cache.unwrap_or(false),
        })
    }

    fn time(&self, name: &str, seconds: Option<f64>) -> Result<Option<Duration>> {
        match seconds {
            None => Ok(None),
            Some(seconds) => {
                let seconds = span(&self.key(name), seconds)?;
                Ok(Some(Duration::from_secs_f64(seconds)))
            }
        }
    }

    fn tags(&self) -> Result<Vec<String>> {
        let tags = self.spec.tags.clone().unwrap_or_default();
        let empty = tags
            .iter()
            .position(|tag| tag.trim_start_matches('!').is_empty());
        if let Some(at) = empty {
            return Err(ScenarioError::new("found a tag without letters")
                .key(self.key(&format!("tags[{at}]")))
                .help("accepted is a name, or `!` and a name"));
        }
        Ok(tags)
    }

    fn fallbacks(&self, entries: &[FallbackSpec], names: &[String]) -> Result<RequestFallbacks> {
        let (mut plain, mut maps, mut lists) = (Vec::new(), Vec::new(), Fallbacks::new());
        for (at, entry) in entries.iter().enumerate() {
            let key = self.key(&format!("fallbacks[{at}]"));
            let check = |name: &String| known(name, names, &key);
            match entry {
                NameOr::Name(name) => plain.push(check(name)?),
                NameOr::Given(map) => {
                    for (name, targets) in map {
                        match targets {
                            NameOr::Name(target) if name == "model" => maps.push(check(target)?),
                            NameOr::Name(_) => {
                                return Err(ScenarioError::new("found one name for a group")
                                    .key(key)
                                    .help(
                                        "accepted is a name, {model: name} or {group: [names]}",
                                    ));
                            }
                            NameOr::Given(targets) => {
                                let targets = targets.iter().map(check).collect::<Result<_>>()?;
                                lists.push((name.clone(), targets));
                            }
                        }
                    }
                }
            }
        }
        match (plain.is_empty(), maps.is_empty(), lists.is_empty()) {
            (_, true, true) => Ok(RequestFallbacks::Names(plain)),
            (true, false, true) => Ok(RequestFallbacks::Maps(maps)),
            (true, true, false) => Ok(RequestFallbacks::ByGroup(lists)),
            _ => Err(ScenarioError::new("found entries of different kinds")
                .key(self.key("fallbacks"))
                .help("accepted are names only, or only {model: name}, or only {group: [names]}")),
        }
    }

    fn by_group(
        &self,
        key: &str,
        lists: &[BTreeMap<String, Vec<String>>],
        names: &[String],
    ) -> Result<Fallbacks> {
        let mut fallbacks = Fallbacks::new();
        for (at, list) in lists.iter().enumerate() {
            let key = self.key(&format!("{key}[{at}]"));
            for (group, targets) in list {
                let targets = targets.iter().map(|name| known(name, names, &key));
                fallbacks.push((group.clone(), targets.collect::<Result<_>>()?));
            }
        }
        Ok(fallbacks)
    }
}

/// A name that can be asked for.
fn known(name: &String, names: &[String], key: &str) -> Result<String> {
    if names
        .iter()
        .any(|known| crate::providers::glob(known, name))
    {
        return Ok(name.clone());
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    Err(
        ScenarioError::new(format!("no model group is called `{name}`"))
            .key(key)
            .help(suggestion(name, &names)),
    )
}

/// What may be lost when shares are added.
const ROUNDING: f64 = 1e-9;
/// Ids of their things have 12 bits for the sender.
const SENDERS_AT_MOST: usize = 1_000;
const TOKENS_AT_MOST: u32 = crate::workload::lengths::TOKENS_AT_MOST;
/// A prefix longer than any context window makes no sense.
const PREFIX_AT_MOST: u32 = 10_000_000;
const TURNS_AT_MOST: f64 = 10_000.0;
const SKEW_AT_MOST: f64 = 5.0;
/// As in a LiteLLM config.
const RETRIES_AT_MOST: u32 = 10_000;
