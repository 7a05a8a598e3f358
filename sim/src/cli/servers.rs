//! What can be typed for what talks over HTTP: `mock`, `live` and `serve`.

use std::{net::SocketAddr, num::NonZeroUsize, path::PathBuf};

use clap::{Args, Subcommand};
use router::ProfileName;

use super::{OutputArgs, ScenarioArgs, assignment, profile};

#[derive(Debug, Args)]
pub(crate) struct MockArgs {
    #[command(flatten)]
    pub(crate) scenario: ScenarioArgs,
    /// A file of providers alone (names, and what each does), in place of a scenario.
    #[arg(long, value_name = "FILE")]
    pub(crate) providers: Option<PathBuf>,
    /// Where to listen; with port 0 the system chooses one, which is printed.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    pub(crate) listen: SocketAddr,
    /// Tokens that a model says where neither the caller's limit nor a header says less.
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    pub(crate) output_tokens: u32,
    /// The providers of which arm, counted from 0 as `check` lists them.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) arm: usize,
    /// After an interrupt or SIGTERM, how long exchanges under way may take to end, in seconds. A second
    /// interrupt leaves them at once.
    #[arg(long, value_name = "S", default_value_t = 5, value_parser = clap::value_parser!(u32).range(0..=3_600))]
    pub(crate) grace_s: u32,
}

#[derive(Debug, Args)]
pub(crate) struct LiveArgs {
    #[command(flatten)]
    pub(crate) scenario: ScenarioArgs,
    /// How many seconds of the run pass in one of the wall's. The faster, the more the transport's own
    /// time counts; where the machine cannot keep up, the exit code is 3.
    #[arg(long, value_name = "F", default_value_t = 4.0, value_parser = speed)]
    pub(crate) speed: f64,
    /// Write every input and decision of the first replication's router to this file, for `routelab
    /// replay`.
    #[arg(long, value_name = "FILE")]
    pub(crate) journal: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// What `compare` compares besides settings.
#[derive(Debug, Subcommand)]
pub(crate) enum Drivers {
    /// Compare the simulation with the run over HTTP: `compare sim live SCENARIO`.
    Sim {
        #[command(subcommand)]
        with: Twin,
    },
}

/// The other side.
#[derive(Debug, Subcommand)]
pub(crate) enum Twin {
    /// State how a scenario over HTTP on this machine differs from its simulation, and whether each
    /// difference is within its margin: exit code 0 if all are, 1 if one is not, 3 if that is undecided
    /// or the machine was too slow.
    Live(TwinArgs),
}

#[derive(Debug, Args)]
pub(crate) struct TwinArgs {
    /// Replications of each side if not given: 4.
    #[command(flatten)]
    pub(crate) scenario: ScenarioArgs,
    /// How many seconds of the run pass in one of the wall's. The faster, the more the transport's own
    /// time counts.
    #[arg(long, value_name = "F", default_value_t = 4.0, value_parser = speed)]
    pub(crate) speed: f64,
    /// How far apart a metric may be: a number in its unit, a share of the simulation's value as `5%`, or
    /// points of a ratio as `0.5pp`. May be given several times; replaces the metric's own margin.
    #[arg(long = "margin", value_name = "METRIC=DISTANCE", value_parser = assignment)]
    pub(crate) margins: Vec<(String, String)>,
    /// Threads of the simulation.
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Write every input and decision of the first replication's live router to this file, for `routelab
    /// replay`.
    #[arg(long, value_name = "FILE")]
    pub(crate) journal: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// The LiteLLM config.yaml. Keys come from the environment: `api_key: os.environ/NAME`.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: PathBuf,
    /// Where to listen; with port 0 the system chooses one, which is printed.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:4000")]
    pub(crate) listen: SocketAddr,
    /// Whose behaviour the router follows.
    #[arg(long, value_name = "PROFILE", value_parser = profile)]
    pub(crate) profile: Option<ProfileName>,
    /// Seed of the router's draws.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Connections at once; further ones wait to be taken.
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) max_connections: u32,
    /// The largest body of a request, in MiB.
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=1_024))]
    pub(crate) max_body_mib: u32,
    /// How long the head of a request may take, in seconds.
    #[arg(long, value_name = "S", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=3_600))]
    pub(crate) head_timeout_s: u32,
    /// How long the body of a request may take, in seconds.
    #[arg(long, value_name = "S", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=3_600))]
    pub(crate) body_timeout_s: u32,
    /// How long a client may leave bytes of an answer unread before its connection is ended, and its
    /// attempt given back, in seconds.
    #[arg(long, value_name = "S", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=3_600))]
    pub(crate) write_timeout_s: u32,
    /// After an interrupt or SIGTERM, how long requests under way may take to end, in seconds.
    #[arg(long, value_name = "S", default_value_t = 30, value_parser = clap::value_parser!(u32).range(0..=3_600))]
    pub(crate) grace_s: u32,
    /// Append every input and decision of the router to this file, for `routelab replay`: no prompts, no
    /// answers, no keys.
    #[arg(long, value_name = "FILE")]
    pub(crate) journal: Option<PathBuf>,
}

fn speed(text: &str) -> Result<f64, String> {
    let speed = text.parse().ok();
    speed
        .filter(|speed| (0.01..=1_000.0).contains(speed))
        .ok_or_else(|| "expected a number from 0.01 to 1000".to_owned())
}
