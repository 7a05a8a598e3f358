//! From the `workload` block to a [`Workload`]: which kind it is, what it needs, what is refused.
//!
//! Files are read here, once for all arms. Everything else is pure: the same block and the same
//! files give the same workload.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use router::Epoch;

use crate::{
    error::{ScenarioError, suggestion},
    schema::{EmpiricalSpec, LengthSpec, LengthsSpec, LogNormalSpec, NameOr, WorkloadSpec},
    source::not_utf8,
    trace_traffic,
    workload::{
        Traffic, Workload,
        arrivals::{number, span},
        dist, length_file,
        lengths::{LENGTHS_PRESETS, Length, LengthShape, Lengths, LengthsPreset, TOKENS_AT_MOST},
        log_normal::LogNormal,
        senders::{self, Askable},
        trace::{Trace, grouped},
    },
    yaml::Node,
};

/// Where files are looked for, and what has been read of them.
#[derive(Debug, Default)]
pub(crate) struct Files {
    /// The scenario file's folder, if it is a file.
    pub folder: Option<PathBuf>,
    /// Traces that were read, so that arms share them.
    pub traces: Vec<trace_traffic::ReadTrace>,
    /// What was found out while reading, for the user.
    pub notes: Vec<String>,
}

impl Files {
    /// The place of a file that is named in a scenario: beside it, else in the current folder.
    pub(crate) fn find(&self, name: &str, key: &str) -> Result<PathBuf, ScenarioError> {
        let path = Path::new(name);
        let mut places = Vec::new();
        if let (Some(folder), true) = (&self.folder, path.is_relative()) {
            places.push(folder.join(path));
        }
        places.push(path.to_owned());
        if let Some(found) = places.iter().find(|place| place.exists()) {
            return Ok(found.clone());
        }
        let mut error = ScenarioError::new(format!("there is no file `{name}`")).key(key);
        if let Some((_, about)) = KNOWN_TRACES.iter().find(|(file, _)| name.ends_with(file)) {
            error = error.help(*about);
        } else if path.is_relative() {
            error = error.help("looked for beside the scenario file and in the current folder");
        }
        Err(error)
    }

    /// The text of a file.
    pub(crate) fn text(&self, name: &str, key: &str) -> Result<String, ScenarioError> {
        let path = self.find(name, key)?;
        let unreadable = |error: &dyn std::fmt::Display| {
            ScenarioError::new(format!("`{name}` cannot be read: {error}")).key(key)
        };
        let bytes = fs::read(path).map_err(|error| unreadable(&error.kind()))?;
        String::from_utf8(bytes).map_err(|error| not_utf8(&error).in_file(name))
    }

    /// The traces of single requests that were read, with their files.
    pub(crate) fn request_traces(&self) -> Vec<(String, Arc<Trace>)> {
        self.traces
            .iter()
            .filter_map(trace_traffic::ReadTrace::requests)
            .collect()
    }

    pub(crate) fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

/// Makes the workload. `askable` are the names that may be asked for, model groups first. Errors are
/// placed in `node`, the block itself.
pub(crate) fn workload(
    node: &Node,
    file: &str,
    epoch: Epoch,
    askable: &[String],
    files: &mut Files,
) -> Result<Workload, ScenarioError> {
    let spec: WorkloadSpec = node.read(file).map_err(|error| error.under("workload"))?;
    made(&spec, epoch, askable, files).map_err(|error| placed(error, node, "workload", file))
}

/// Gives an error the place of its key below `node`, as far as that key exists.
pub(crate) fn placed(error: ScenarioError, node: &Node, parent: &str, file: &str) -> ScenarioError {
    if error.file().is_some() {
        return error;
    }
    let mut path = error.key_path();
    let nearest = loop {
        match node.at_path(path) {
            Some(found) => break found,
            None => match path.rfind(['.', '[']) {
                Some(end) => path = &path[..end],
                None => break node,
            },
        }
    };
    let (line, column) = (nearest.line, nearest.column);
    error.under(parent).at(line, column).in_file(file)
}

fn made(
    spec: &WorkloadSpec,
    epoch: Epoch,
    askable: &[String],
    files: &mut Files,
) -> Result<Workload, ScenarioError> {
    let (mut models, mix) = models(spec, askable)?;
    let stream_share = spec.stream_share.unwrap_or(0.0);
    if !(0.0..=1.0).contains(&stream_share) {
        return Err(number("stream_share", stream_share, "a share from 0 to 1"));
    }
    if let Some(limit @ (0 | TOO_MANY_TOKENS..)) = spec.max_tokens {
        let accepted = format!("from 1 to {TOKENS_AT_MOST} tokens");
        return Err(number("max_tokens", f64::from(limit), accepted));
    }
    let (traffic, duration) = match (&spec.trace, &spec.arrivals) {
        (Some(trace), None) => trace_traffic::traffic(trace, spec, files)?,
        (None, Some(arrivals)) => {
            let seconds = spec.duration_s.ok_or_else(|| {
                ScenarioError::new("key `duration_s` is missing")
                    .help("accepted is a number of seconds")
            })?;
            let seconds = span("duration_s", seconds)?;
            let (rate, gap) = arrivals
                .process(epoch)
                .map_err(|error| error.under("arrivals"))?;
            let lengths = spec.lengths.as_ref().ok_or_else(lengths_missing)?;
            let lengths = lengths_of(lengths, files)?;
            (
                Traffic::Generated { rate, gap, lengths },
                Duration::from_secs_f64(seconds),
            )
        }
        (Some(_), Some(_)) => {
            return Err(ScenarioError::new("found both `arrivals` and `trace`")
                .key("arrivals")
                .help("a workload is either generated or recorded: keep one of the two"));
        }
        (None, None) => {
            return Err(ScenarioError::new("found neither `arrivals` nor `trace`").help(
                "accepted is, e.g., `arrivals: {poisson: {per_second: 10}}`, or `trace: {file: …}`",
            ));
        }
    };
    let max_tokens = spec.max_tokens;
    let senders = match &spec.senders {
        None => None,
        Some(specs) => {
            let mut askable = Askable {
                names: askable,
                models: &mut models,
                stream_share,
                max_tokens,
            };
            senders::senders(specs, &mut askable)?
        }
    };
    let workload = Workload {
        models,
        mix,
        duration,
        stream_share,
        max_tokens,
        senders,
        traffic,
    };
    let expected = workload.expected_arrivals();
    if expected > ARRIVALS_AT_MOST {
        return Err(
            ScenarioError::new(format!("this would be {expected:.1e} requests a run")).help(
                format!("accepted are up to {ARRIVALS_AT_MOST:.0e}: lower the rate or the time"),
            ),
        );
    }
    Ok(workload)
}

pub(crate) fn lengths_missing() -> ScenarioError {
    let names = LENGTHS_PRESETS
        .iter()
        .map(|preset| preset.name)
        .collect::<Vec<_>>()
        .join(", ");
    ScenarioError::new("key `lengths` is missing").help(format!(
        "accepted is one of the presets {names}; or {{prompt: …, output: …}}; or {{file: …}}"
    ))
}

fn models(
    spec: &WorkloadSpec,
    askable: &[String],
) -> Result<(Vec<String>, Vec<f64>), ScenarioError> {
    match (&spec.models, askable.first()) {
        (Some(models), _) => mix(models, askable, "models"),
        (None, first) => mix(
            &NameOr::Given(first.cloned().into_iter().map(|name| (name, 1.0)).collect()),
            askable,
            "models",
        ),
    }
}

/// Models with cumulative shares of which the last is 1. `key` is where they stand.
pub(crate) fn mix(
    models: &NameOr<BTreeMap<String, f64>>,
    askable: &[String],
    key: &str,
) -> Result<(Vec<String>, Vec<f64>), ScenarioError> {
    let shares: Vec<(String, f64)> = match models {
        NameOr::Name(name) => vec![(name.clone(), 1.0)],
        NameOr::Given(shares) => shares.iter().map(|(n, s)| (n.clone(), *s)).collect(),
    };
    if shares.is_empty() || shares.len() > usize::from(u16::MAX) {
        return Err(ScenarioError::new(format!("found {} models", shares.len()))
            .key(key)
            .help("accepted are from 1 to 65,535 names with their shares"));
    }
    for (name, share) in &shares {
        let key = crate::yaml::join(key, name);
        if !askable
            .iter()
            .any(|known| crate::providers::glob(known, name))
        {
            let known: Vec<&str> = askable.iter().map(String::as_str).collect();
            return Err(
                ScenarioError::new(format!("no model group is called `{name}`"))
                    .key(key)
                    .help(suggestion(name, &known)),
            );
        }
        if !(*share > 0.0 && share.is_finite()) {
            return Err(number(&key, *share, "a share above 0; only ratios count"));
        }
    }
    let total: f64 = shares.iter().map(|(_, share)| share).sum();
    let mut sum = 0.0;
    Ok(shares
        .into_iter()
        .map(|(name, share)| {
            sum += share;
            (name, sum / total)
        })
        .unzip())
}

/// The lengths that a file asks for. Errors name their key from `workload` on.
pub(crate) fn lengths_of(
    spec: &NameOr<LengthsSpec>,
    files: &mut Files,
) -> Result<Lengths, ScenarioError> {
    let spec = match spec {
        NameOr::Given(spec) => spec,
        NameOr::Name(name) => {
            return LengthsPreset::named(name)
                .map(LengthsPreset::lengths)
                .ok_or_else(|| {
                    let names: Vec<&str> =
                        LENGTHS_PRESETS.iter().map(|preset| preset.name).collect();
                    ScenarioError::new(format!("no preset of lengths is called `{name}`"))
                        .key("lengths")
                        .help(suggestion(name, &names))
                });
        }
    };
    match (&spec.file, &spec.prompt, &spec.output) {
        (Some(file), None, None) => {
            let text = files.text(file, "lengths.file")?;
            let pairs = length_file::read_pairs(&text, file)?;
            files.note(format!("lengths {file}: {}", pairs.books.account()));
            Ok(Lengths::Pairs(pairs.rows))
        }
        (None, Some(prompt), Some(output)) => Ok(Lengths::apart(
            length(prompt, "lengths.prompt", files)?,
            length(output, "lengths.output", files)?,
        )),
        (Some(_), _, _) => Err(
            ScenarioError::new("found `file` beside `prompt` or `output`")
                .key("lengths")
                .help("a file gives both lengths: keep one of the two"),
        ),
        (None, _, _) => Err(ScenarioError::new("`prompt` and `output` are both needed")
            .key("lengths")
            .help("accepted is, e.g., {prompt: {constant: 500}, output: {constant: 100}}")),
    }
}

fn length(spec: &LengthSpec, key: &str, files: &mut Files) -> Result<Length, ScenarioError> {
    match spec {
        LengthSpec::Constant(tokens @ (0 | TOO_MANY_TOKENS..)) => {
            let accepted = format!("from 1 to {TOKENS_AT_MOST} tokens");
            Err(number(
                &format!("{key}.constant"),
                f64::from(*tokens),
                accepted,
            ))
        }
        LengthSpec::Constant(tokens) => Ok(Length::of(LengthShape::Constant(f64::from(*tokens)))),
        LengthSpec::LogNormal(spec) => log_normal(spec, &format!("{key}.log_normal")),
        LengthSpec::Empirical(spec) => empirical(spec, &format!("{key}.empirical"), files),
    }
}

fn log_normal(spec: &LogNormalSpec, key: &str) -> Result<Length, ScenarioError> {
    let (ln_mean, ln_sigma) = match (spec.ln_mean, spec.ln_sigma, spec.p50, spec.p95) {
        (Some(mean), Some(sigma), None, None) => (mean, sigma),
        (None, None, Some(p50), Some(p95)) => {
            if !(p50 >= 1.0 && p50 <= f64::from(TOKENS_AT_MOST)) {
                return Err(number(&format!("{key}.p50"), p50, "a number of tokens"));
            }
            if !(p95 >= p50 && p95 <= f64::from(TOKENS_AT_MOST)) {
                let accepted = format!("a number of tokens not below `p50`, which is {p50}");
                return Err(number(&format!("{key}.p95"), p95, accepted));
            }
            let sigma = (libm::log(p95) - libm::log(p50)) / dist::normal_quantile(0.95);
            (libm::log(p50), sigma)
        }
        _ => {
            return Err(
                ScenarioError::new("found neither of the two ways to say it")
                    .key(key)
                    .help("accepted is `ln_mean` with `ln_sigma`, or `p50` with `p95`, not both"),
            );
        }
    };
    if !(0.0..=LN_MEAN_AT_MOST).contains(&ln_mean) {
        let accepted = format!("from 0 (one token) to {LN_MEAN_AT_MOST}");
        return Err(number(&format!("{key}.ln_mean"), ln_mean, accepted));
    }
    if !(0.0..=LN_SIGMA_AT_MOST).contains(&ln_sigma) {
        return Err(number(&format!("{key}.ln_sigma"), ln_sigma, "from 0 to 5"));
    }
    let at_least = spec.at_least.unwrap_or(1);
    let at_most = spec.at_most.unwrap_or(TOKENS_AT_MOST);
    if at_least == 0 || at_least > at_most || at_most > TOKENS_AT_MOST {
        return Err(
            ScenarioError::new(format!("found the bounds {at_least} and {at_most}"))
                .key(key)
                .help(format!(
                    "accepted is 1 ≤ at_least ≤ at_most ≤ {}",
                    grouped(TOKENS_AT_MOST.into())
                )),
        );
    }
    Ok(Length {
        shape: LengthShape::LogNormal(LogNormal::new(ln_mean, ln_sigma)),
        at_least,
        at_most,
    })
}

fn empirical(spec: &EmpiricalSpec, key: &str, files: &mut Files) -> Result<Length, ScenarioError> {
    let shape = match (&spec.file, &spec.column, &spec.points) {
        (Some(file), None, None) => {
            let text = files.text(file, &format!("{key}.file"))?;
            LengthShape::Cdf(length_file::read_cdf(&text, file)?)
        }
        (Some(file), Some(column), None) => {
            let text = files.text(file, &format!("{key}.file"))?;
            let (values, books) = length_file::read_column(&text, column, file)?;
            files.note(format!("lengths {file}, {column}: {}", books.account()));
            LengthShape::List(values)
        }
        (None, None, Some(points)) => {
            length_file::check_points(points)
                .map_err(|error| error.key(format!("{key}.points")))?;
            LengthShape::Cdf(points.as_slice().into())
        }
        _ => {
            return Err(
                ScenarioError::new("found neither or both of `file` and `points`")
                    .key(key)
                    .help("accepted is `file` (JSON), `file` with `column` (CSV), or `points`"),
            );
        }
    };
    Ok(Length::of(shape))
}

/// Where the traces can be had that library scenarios ask for by name.
const KNOWN_TRACES: [(&str, &str); 1] = [(
    "AzureLLMInferenceTrace_conv.csv",
    "it is AzureLLMInferenceTrace_conv.csv of the Azure public dataset \
     (github.com/Azure/AzurePublicDataset, CC-BY-4.0); say where it is with \
     `--set workload.trace.file=PATH`",
)];

/// A day of a million requests a second is not simulated by mistake.
const ARRIVALS_AT_MOST: f64 = 1e10;
const TOO_MANY_TOKENS: u32 = TOKENS_AT_MOST + 1;
/// e^18 is 66 million tokens.
const LN_MEAN_AT_MOST: f64 = 18.0;
const LN_SIGMA_AT_MOST: f64 = 5.0;
