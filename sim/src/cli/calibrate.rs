//! What can be typed after `calibrate`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct CalibrateArgs {
    /// Logs: LiteLLM's spend logs as CSV, JSON, JSON lines or Parquet, OpenTelemetry GenAI spans as JSON,
    /// or any other of these with --columns. Several files are one log.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) logs: Vec<PathBuf>,
    /// Which column means what, for a table that is not LiteLLM's: start is needed; known are end, latency_ms,
    /// latency_s, first_token_at, first_token_ms, first_token_s, model, deployment, litellm_model,
    /// prompt_tokens, output_tokens, status, error_code, stream, sender, session, cached and id.
    #[arg(long, value_name = "NAME=COLUMN,…")]
    pub(crate) columns: Option<String>,
    /// What numbers in columns of times count, where their size does not tell.
    #[arg(long, value_enum, value_name = "UNIT")]
    pub(crate) time_unit: Option<CountedTime>,
    /// Directory of the scenario, the page and the numbers.
    #[arg(long, value_name = "DIR", default_value = "routelab-calibration")]
    pub(crate) out: PathBuf,
    /// What to print on standard output.
    #[arg(long, value_enum, default_value_t = CalibrateFormat::Console)]
    pub(crate) format: CalibrateFormat,
}

/// What `calibrate` prints.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum CalibrateFormat {
    /// Sentences for people.
    Console,
    /// Every number, as in `calibration.json`.
    Json,
}

/// A unit of time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum CountedTime {
    /// Seconds.
    S,
    /// Milliseconds.
    Ms,
    /// Microseconds.
    Us,
    /// Nanoseconds.
    Ns,
}
