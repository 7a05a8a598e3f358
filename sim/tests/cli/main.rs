//! The command as a user runs it: what it prints, what it writes, and the code that it exits with.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod broken;
mod broken_files;
mod calibrate;
mod colours;
mod gate;
mod live;
mod mock;
mod parquet;
mod plan;
mod probe;
mod replay;
mod requests;
mod results;
mod same_bytes;
mod serve;
mod steady;
mod story;
mod swarm;
mod tune;
mod words;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// A folder of a test's own, where the command runs.
struct Folder(PathBuf);

/// What a command left.
#[derive(PartialEq, Debug)]
struct Left {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Folder {
    /// Empty, whatever an earlier run left there.
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        if path.exists() {
            fs::remove_dir_all(&path).unwrap();
        }
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn with(self, file: &str, text: &str) -> Self {
        fs::write(self.0.join(file), text).unwrap();
        self
    }

    fn path(&self, file: &str) -> PathBuf {
        self.0.join(file)
    }

    fn read(&self, file: &str) -> String {
        fs::read_to_string(self.path(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_routelab"));
        command
            .args(arguments)
            .current_dir(&self.0)
            .env_remove("COLUMNS")
            .env("NO_COLOR", "1");
        command.stdin(Stdio::null());
        command
    }

    fn routelab(&self, arguments: &[&str]) -> Left {
        let output = self.command(arguments).output().unwrap();
        Left {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// What a command tells of input that it refuses: it ends with 2, prints nothing and writes no report.
fn told(folder: &Folder, arguments: &[&str]) -> String {
    let left = folder.routelab(arguments);

    assert_eq!(left.code, Some(2), "{arguments:?}: {}", left.stderr);
    assert_eq!(left.stdout, "", "{arguments:?}");
    assert!(!folder.path("routelab-report").exists());
    left.stderr
}

/// Two deployments, one of which fails a fifth of its attempts; settings come from a config.
const FLAKY: &str = "
purpose: Which settings hide a deployment that fails now and then?
kind: steady
replications: 2
litellm:
  model_list:
    - {model_name: chat, litellm_params: {model: openai/a}, model_info: {id: good}}
    - {model_name: chat, litellm_params: {model: openai/b}, model_info: {id: bad}}
providers:
  default: {latency: {first_token: {constant: {ms: 200}}}}
  bad:
    latency: {first_token: {constant: {ms: 200}}}
    faults: [{error_rate: {share: 0.2, status: 500}}]
workload:
  arrivals: {poisson: {per_second: 20}}
  lengths: {prompt: {constant: 100}, output: {constant: 50}}
  duration_s: 30
slo: {latency_s: 1}
";

/// Two deployments, one of which fails a tenth of its attempts, over two axes: eight runs.
const TINY: &str = "
purpose: Does a retry hide a deployment that fails now and then?
kind: steady
replications: 2
litellm:
  model_list:
    - {model_name: chat, litellm_params: {model: openai/a}, model_info: {id: good}}
    - {model_name: chat, litellm_params: {model: openai/b}, model_info: {id: bad}}
  router_settings: {cooldown_time: 5}
providers:
  default: {latency: {first_token: {constant: {ms: 200}}}}
  bad:
    latency: {first_token: {constant: {ms: 200}}}
    faults: [{error_rate: {share: 0.1, status: 500}}]
workload:
  arrivals: {poisson: {per_second: 20}}
  lengths: {prompt: {constant: 100}, output: {constant: 50}}
  duration_s: 30
slo: {latency_s: 1}
sweep:
  num_retries: [0, 2]
  cooldown_time: [1, 5]
";
