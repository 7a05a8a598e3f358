//! What each command does; one file a command.

mod calibrate;
mod check;
mod compare;
mod explain;
mod gate;
mod list;
mod live;
mod mock;
mod plan;
mod probe;
mod replay;
mod run;
mod serve;
mod settings_text;
mod settle;
mod swarm;
mod sweep;
mod tune;
mod twins;

pub(crate) use explain::blame;

use std::path::Path;

use clap::{CommandFactory as _, Parser as _};
use scenarios::{LoadOptions, Scenario, Source, litellm};

use crate::{
    cli::{Cli, Command, ScenarioArgs},
    complaint::Complaint,
    output,
};

/// How a command that did its work ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ended {
    /// All is well.
    Done,
    /// An expectation of the scenario failed, or what should be the same is not.
    ExpectationFailed,
    /// The user interrupted; what was finished is kept.
    Interrupted,
    /// No expectation failed, but one is undecided.
    Undecided,
}

/// Does what was typed.
pub(crate) fn execute(cli: Cli) -> Result<Ended, Complaint> {
    match cli.command {
        // The one command that needs nothing to be typed.
        None => execute(Cli::parse_from(["routelab", "run"])),
        Some(Command::Run(args)) => run::run(&args),
        Some(Command::Sweep(args)) => sweep::sweep(&args),
        Some(Command::Compare(args)) => compare::compare(&args),
        Some(Command::Plan(args)) => plan::plan(&args),
        Some(Command::Probe(args)) => probe::probe(&args),
        Some(Command::Gate(args)) => gate::gate(&args),
        Some(Command::Tune(args)) => tune::tune(&args),
        Some(Command::Calibrate(args)) => calibrate::calibrate(&args),
        Some(Command::List(args)) => list::list(&args),
        Some(Command::Check(args)) => check::check(&args),
        Some(Command::Explain(args)) => explain::explain(&args),
        Some(Command::Mock(args)) => mock::mock(&args),
        Some(Command::Live(args)) => live::live(&args),
        Some(Command::Serve(args)) => serve::serve(&args),
        Some(Command::Replay { file }) => replay::replay(&file),
        Some(Command::Swarm(args)) => swarm::swarm(&args),
        Some(Command::Completions { shell }) => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "routelab", &mut script);
            output::print(&String::from_utf8_lossy(&script))?;
            Ok(Ended::Done)
        }
        Some(Command::Schema) => {
            output::print(&scenarios::schema_json())?;
            Ok(Ended::Done)
        }
    }
}

impl ScenarioArgs {
    /// This scenario, as it is.
    fn of_name(name: &str) -> Self {
        Self {
            scenario: name.to_owned(),
            config: None,
            prices: None,
            profile: None,
            sets: Vec::new(),
            seed: None,
            reps: None,
        }
    }

    /// Reads the scenario with all changes that were asked for.
    fn load(&self) -> Result<Scenario, Complaint> {
        if let Some(text) = check::config_text(self) {
            litellm::read(&text, &self.scenario)?;
            return Err(Complaint::Usage {
                message: format!(
                    "`{}` is a LiteLLM config and no scenario: it does not say who asks what",
                    self.scenario,
                ),
                help: format!(
                    "give it to a scenario: routelab run baseline --config {}",
                    self.scenario
                ),
            });
        }
        Ok(Scenario::load(&self.source(), &self.options())?)
    }

    fn options(&self) -> LoadOptions {
        LoadOptions {
            sets: self.sets.clone(),
            seed: self.seed,
            replications: self.reps,
            config: self.config.clone(),
            profile: self.profile,
            prices: self.prices.clone(),
            metrics: reports::metrics()
                .iter()
                .map(|metric| metric.name())
                .collect(),
        }
    }

    /// A file if one of that name is there or if it looks like a path, else a name of the library.
    fn source(&self) -> Source {
        let path = Path::new(&self.scenario);
        let like_a_path = path.extension().is_some() || path.components().count() > 1;
        if path.is_file() || like_a_path {
            Source::File(path.to_path_buf())
        } else {
            Source::Library(self.scenario.clone())
        }
    }

    /// The arguments as they would be typed. Two ways of typing the same give the same text.
    fn typed(&self) -> String {
        let mut words = vec![self.scenario.clone()];
        if let Some(config) = &self.config {
            words.extend(["--config".to_owned(), config.display().to_string()]);
        }
        if let Some(prices) = &self.prices {
            words.extend(["--prices".to_owned(), prices.display().to_string()]);
        }
        if let Some(profile) = self.profile {
            words.extend(["--profile".to_owned(), profile.as_str().to_owned()]);
        }
        for (path, value) in &self.sets {
            words.extend(["--set".to_owned(), format!("{path}={value}")]);
        }
        if let Some(seed) = self.seed {
            words.extend(["--seed".to_owned(), seed.to_string()]);
        }
        if let Some(reps) = self.reps {
            words.extend(["--reps".to_owned(), reps.to_string()]);
        }
        words
            .iter()
            .map(|word| quoted(word))
            .collect::<Vec<_>>()
            .join(" ")
    }
}

/// A word as a shell wants it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_only_where_a_shell_needs_it() {
        assert_eq!(quoted("a.b=1,2"), "a.b=1,2");
        assert_eq!(quoted("a=[1, 2]"), "'a=[1, 2]'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }
}
