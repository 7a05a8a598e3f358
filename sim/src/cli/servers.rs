//! What can be typed for what talks over HTTP: `mock`, `live` and `serve`.

use std::{net::SocketAddr, path::PathBuf};

use clap::Args;
use router::ProfileName;

use super::{OutputArgs, ScenarioArgs, profile};

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
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) output_tokens: u32,
    /// The providers of which arm, counted from 0 as `check` lists them.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) arm: usize,
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
