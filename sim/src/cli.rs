//! The command line: what can be typed, and nothing of what it does.

mod calibrate;
mod servers;
mod studies;
mod swarm;

use std::{num::NonZeroUsize, path::PathBuf};

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use reports::Blame;
use router::ProfileName;

use crate::commands::blame;
pub(crate) use calibrate::{CalibrateArgs, CalibrateFormat, CountedTime};
pub(crate) use servers::{Drivers, LiveArgs, MockArgs, ServeArgs, Twin, TwinArgs};
pub(crate) use studies::{Out, PlanArgs, ProbeArgs, Push, Sized};
pub(crate) use swarm::SwarmArgs;

/// A workbench for LLM routers: measure how strategies, cooldowns, retries and fallbacks behave under
/// real traffic, in virtual time, with LiteLLM's rules.
///
/// Without a command it runs the bundled scenario `main` and writes a report to `routelab-report/`.
#[derive(Debug, Parser)]
#[command(name = "routelab", version, max_term_width = 100, after_help = EXIT_CODES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a scenario with all of its arms and replications, and write a report.
    Run(RunArgs),
    /// Run a scenario over other axes than its own.
    Sweep(SweepArgs),
    /// Compare settings, or two LiteLLM configs, request by request on the same luck.
    Compare(CompareArgs),
    /// Search for the settings that serve an objective best, and prove them on fresh seeds.
    Tune(TuneArgs),
    /// Size model groups: how many deployments or how much quota a growing load needs, with one out.
    Plan(PlanArgs),
    /// Push a service and watch whether it comes back by itself, and where it breaks and recovers.
    Probe(ProbeArgs),
    /// Judge whether routing became worse: an old config, revision or result against a new one.
    Gate(GateArgs),
    /// Make a scenario from logs: fit the traffic and the providers that they show, and test the fit.
    Calibrate(CalibrateArgs),
    /// List the bundled scenarios, the metrics, and the provider presets.
    List(ListArgs),
    /// Validate a scenario or a LiteLLM config and tell what of it takes effect.
    Check(CheckArgs),
    /// Tell why requests failed or were slow: one request's whole story, or who is to blame for all that
    /// got no answer.
    Explain(ExplainArgs),
    /// Serve providers over HTTP in real time, as OpenAI and Anthropic, with their faults: for clients
    /// and their tests.
    Mock(MockArgs),
    /// Run a scenario over HTTP on this machine, beside its simulation, and tell how they differ.
    Live(LiveArgs),
    /// Serve a LiteLLM config as an OpenAI-compatible front door that calls real providers, with the
    /// very router that the simulations run.
    Serve(ServeArgs),
    /// Feed the journal of a run or of a live router through a fresh one, and tell the first decision that
    /// is another one.
    Replay {
        /// The journal, as `run`, `live` and `serve` write it with --journal.
        file: PathBuf,
    },
    /// Run random scenarios, or one of yours, under the checkers of every invariant of the router and the
    /// engine; one that breaks an invariant is cut down to a small file.
    Swarm(SwarmArgs),
    /// Print a completion script for a shell.
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Print the JSON schema of scenario files, for editors.
    Schema,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) scenario: ScenarioArgs,
    /// Show each arm also as a share of what a router could have done at most that knew everything
    /// beforehand (`of_hindsight_ratio`).
    #[arg(long)]
    pub(crate) hindsight: bool,
    /// Write the attempts of the reference arm's first replication as LiteLLM would have logged them.
    #[arg(long, value_name = "FILE")]
    pub(crate) spend_log: Option<PathBuf>,
    /// Write every input and decision of the router in the reference arm's first replication, for
    /// `routelab replay`.
    #[arg(long, value_name = "FILE")]
    pub(crate) journal: Option<PathBuf>,
    /// Write the requests of the reference arm's first replication as JSON lines, for another driver to
    /// send the same: when each comes, for which model, how long it is.
    #[arg(long, value_name = "FILE")]
    pub(crate) requests: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
pub(crate) struct SweepArgs {
    #[command(flatten)]
    pub(crate) scenario: ScenarioArgs,
    /// An axis and its values; may be given several times. Replaces the scenario's own axis of the
    /// same name, and is added to the others.
    #[arg(long = "axis", value_name = "NAME=V1,V2", required = true, value_parser = assignment)]
    pub(crate) axes: Vec<(String, String)>,
    /// Drop the scenario's own axes first.
    #[arg(long)]
    pub(crate) only: bool,
    /// Show each arm also as a share of what a router could have done at most that knew everything
    /// beforehand (`of_hindsight_ratio`).
    #[arg(long)]
    pub(crate) hindsight: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("sides").required(true).multiple(true).args(["arms", "against"]))]
#[command(subcommand_negates_reqs = true, args_conflicts_with_subcommands = true)]
pub(crate) struct CompareArgs {
    #[command(subcommand)]
    pub(crate) drivers: Option<Drivers>,
    #[command(flatten)]
    pub(crate) scenario: ScenarioArgs,
    /// The settings of one arm, with commas between; give two or more. The first is the reference
    /// that the others are compared with. `as-is` stands for the scenario's own settings.
    #[arg(
        long = "arm",
        value_name = "PATH=VALUE,…",
        num_args = 1,
        conflicts_with = "against"
    )]
    pub(crate) arms: Vec<String>,
    /// A second LiteLLM config, compared with that of `--config`.
    #[arg(long, value_name = "FILE", requires = "config")]
    pub(crate) against: Option<PathBuf>,
    /// Show each arm also as a share of what a router could have done at most that knew everything
    /// beforehand (`of_hindsight_ratio`).
    #[arg(long)]
    pub(crate) hindsight: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("old").required(true).args(["against", "against_rev", "baseline"]))]
pub(crate) struct GateArgs {
    #[command(flatten)]
    pub(crate) scenario: ScenarioArgs,
    /// The old LiteLLM config; that of `--config` is the new one.
    #[arg(long, value_name = "FILE", requires = "config")]
    pub(crate) against: Option<PathBuf>,
    /// The git revision whose version of `--config` is the old one, such as `origin/main`.
    #[arg(long, value_name = "REV", requires = "config")]
    pub(crate) against_rev: Option<String>,
    /// The git revision whose version of `--config` is the new one; the file as it is if not given.
    #[arg(long, value_name = "REV", requires = "config")]
    pub(crate) rev: Option<String>,
    /// The `results.json` of an old report; that of `--results` is the new one, and nothing is run.
    #[arg(
        long,
        value_name = "FILE",
        requires = "results",
        conflicts_with = "config"
    )]
    pub(crate) baseline: Option<PathBuf>,
    /// The `results.json` of the new report.
    #[arg(long, value_name = "FILE", requires = "baseline")]
    pub(crate) results: Option<PathBuf>,
    /// How much worse a metric may be: a number in its unit, a share of the old value as `5%`, or
    /// points of a ratio as `0.5pp`. May be given several times; replaces the gate's own margins.
    #[arg(long = "margin", value_name = "METRIC=LOSS", value_parser = assignment)]
    pub(crate) margins: Vec<(String, String)>,
    /// Most replications that are run to decide, where `--reps` does not set their number.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_reps: u32,
    /// Write the verdict as JUnit XML.
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Append the verdict as Markdown, as a step's summary wants it.
    #[arg(long, value_name = "FILE")]
    pub(crate) summary: Option<PathBuf>,
    /// Write the verdict as JSON.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Threads; as many as the machine has cores if not given. Results do not depend on it.
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<NonZeroUsize>,
}

#[derive(Debug, Args)]
pub(crate) struct TuneArgs {
    #[command(flatten)]
    pub(crate) scenario: ScenarioArgs,
    /// What is wanted, and what must hold.
    #[arg(
        long,
        value_name = "WORDS",
        default_value = USUAL_OBJECTIVE
    )]
    pub(crate) objective: String,
    /// A further scenario that counts, and its weight beside the first one's 1; may be given several
    /// times. Metrics are then means over the scenarios.
    #[arg(long, value_name = "SCENARIO=WEIGHT", value_parser = assignment)]
    pub(crate) also: Vec<(String, String)>,
    /// A setting that may be changed, and its values; may be given several times. Without any:
    /// routing_strategy, cooldown_time, allowed_fails, num_retries, retry_after, timeout,
    /// default_max_parallel_requests, and the weights of groups that share evenly or by weight.
    #[arg(long = "knob", value_name = "PATH=V1,V2", value_parser = assignment)]
    pub(crate) knobs: Vec<(String, String)>,
    /// Candidates in the race.
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) candidates: u32,
    /// Most replications of a candidate in the search.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(4..))]
    pub(crate) max_reps: u32,
    /// Replications of each finalist in the proof.
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(2..))]
    pub(crate) proof_reps: u32,
    /// Write the config of `--config` with the answer in it to this file; comments and order stay.
    #[arg(long, value_name = "FILE", requires = "config")]
    pub(crate) patch: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// What to list; everything if not given.
    #[arg(value_enum)]
    pub(crate) what: Option<Listed>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Listed {
    Scenarios,
    Metrics,
    Presets,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) scenario: ScenarioArgs,
    /// What to print on standard output.
    #[arg(long, value_enum, default_value_t = CheckFormat::Console)]
    pub(crate) format: CheckFormat,
    /// End with exit code 1 if there are findings of this kind or worse: for CI. Without it findings
    /// are told and the exit code is 0.
    #[arg(long, value_enum, value_name = "KIND")]
    pub(crate) deny: Option<Denied>,
}

/// What `check` prints.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum CheckFormat {
    /// Lines for people.
    Console,
    /// Keys and findings as JSON.
    Json,
}

/// Findings that are not accepted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Denied {
    /// Errors.
    Errors,
    /// Errors and warnings.
    Warnings,
    /// All of them, notes too.
    Findings,
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("which").args(["request", "first", "worst", "failed"]))]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    pub(crate) scenario: ScenarioArgs,
    /// Which request, counted from 0 in the order of arrival. Without this and the next three: who is
    /// to blame for all requests that got no answer, over all replications.
    #[arg(long, value_name = "N")]
    pub(crate) request: Option<u64>,
    /// The first request that this happened to.
    #[arg(long, value_enum)]
    pub(crate) first: Option<Fate>,
    /// The request that had most of it.
    #[arg(long, value_enum)]
    pub(crate) worst: Option<Worst>,
    /// The first request that got no answer; with a blame, the first of that blame.
    #[arg(long, value_name = "BLAME", num_args = 0..=1, value_parser = blame)]
    #[expect(clippy::option_option, reason = "not given, given, given with a value")]
    pub(crate) failed: Option<Option<Blame>>,
    /// In which arm, counted from 0 as `check` lists them.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) arm: usize,
    /// In which replication, counted from 0.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) rep: u32,
    /// Write the story of one request as a page, too.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

/// What a request may have most of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Worst {
    /// Time from arrival to answer or error.
    Latency,
    /// Time in backoff, waiting for a slot, or in the priority queue.
    Waits,
}

/// What may happen to a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Fate {
    /// The response cache answered it.
    Cached,
    /// It got no answer.
    Failed,
    /// It went on to a fallback or another tier.
    FellBack,
    /// A silent model got a copy of it.
    Mirrored,
    /// It was tried again.
    Retried,
    /// It waited for a moment or a slot.
    Waited,
}

/// Which scenario, and what of it to change.
#[derive(Clone, Debug, Args)]
pub(crate) struct ScenarioArgs {
    /// A scenario file, or the name of a bundled scenario (see `routelab list`).
    #[arg(default_value = "main")]
    pub(crate) scenario: String,
    /// A LiteLLM config.yaml in place of the scenario's own router settings.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// LiteLLM's price registry (model_prices_and_context_window.json): what models cost and how long
    /// their prompts may be.
    #[arg(long, value_name = "FILE")]
    pub(crate) prices: Option<PathBuf>,
    /// Whose behaviour the router follows.
    #[arg(long, value_name = "PROFILE", value_parser = profile)]
    pub(crate) profile: Option<ProfileName>,
    /// Change one value of the scenario; may be given several times.
    #[arg(long = "set", value_name = "PATH=VALUE", value_parser = assignment)]
    pub(crate) sets: Vec<(String, String)>,
    /// Seed of all randomness, in place of the scenario's own.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Replications of each arm, in place of the scenario's own number.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) reps: Option<u32>,
}

/// How to run, and what to give out.
#[derive(Clone, Debug, Args)]
pub(crate) struct OutputArgs {
    /// Threads; as many as the machine has cores if not given. Results do not depend on it.
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Directory of the report.
    #[arg(long, value_name = "DIR", default_value = "routelab-report")]
    pub(crate) out: PathBuf,
    /// Write no report, only standard output.
    #[arg(long, conflicts_with = "out")]
    pub(crate) no_report: bool,
    /// What to print on standard output.
    #[arg(long, value_enum, default_value_t = Format::Console)]
    pub(crate) format: Format,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Format {
    /// A table for people.
    Console,
    /// The same as Markdown.
    Markdown,
    /// One line for each arm and metric.
    Csv,
    /// The same with every run.
    Json,
}

fn assignment(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((path, value)) if !path.trim().is_empty() => {
            Ok((path.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err("expected a name, `=` and a value".to_owned()),
    }
}

fn profile(text: &str) -> Result<ProfileName, String> {
    ProfileName::ALL
        .into_iter()
        .find(|profile| profile.as_str() == text)
        .ok_or_else(|| {
            let known: Vec<&str> = ProfileName::ALL
                .iter()
                .map(|profile| profile.as_str())
                .collect();
            format!("known are {}", known.join(", "))
        })
}

/// What `tune` is after if nobody says.
pub(crate) const USUAL_OBJECTIVE: &str = "maximize goodput; cost <= +2%";

const EXIT_CODES: &str = "\
Exit codes:
  0    done
  1    an `expect:` of the scenario or a gate failed, `check --deny` found something, a limit of `tune`
       does not hold under what it advises, or `swarm` found a broken invariant
  2    usage or input error
  3    an `expect:` or a gate is undecided: more replications are needed; or a plan has no size that
       is shown to be enough
  130  interrupted: finished runs are kept, and the result is marked partial";
