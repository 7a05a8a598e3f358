//! `routelab replay`: does a journal's every decision come out again? And how the other commands write
//! one.

use std::{
    fs::File,
    io::{self, BufReader, BufWriter},
    path::Path,
};

use scenarios::{RunPlan, Scenario};
use sim::{
    journal::{self, Head, Journal, JournalError, Replayed},
    simulate,
};

use super::Ended;
use crate::{complaint::Complaint, output, progress::note};

pub(super) fn replay(file: &Path) -> Result<Ended, Complaint> {
    let name = file.display();
    let complaint = |error: &dyn std::fmt::Display, help: &str| Complaint::Usage {
        message: format!("{name}: {error}"),
        help: help.to_owned(),
    };
    let opened = File::open(file).map_err(|error| {
        complaint(
            &format!("it cannot be read: {error}"),
            WHERE_JOURNALS_COME_FROM,
        )
    })?;
    let replayed = journal::replay(BufReader::new(opened)).map_err(|error| {
        let help = match error {
            JournalError::Line { .. } => {
                "nothing was judged; a journal is replayed as it was written"
            }
            JournalError::Read(_) | JournalError::Empty => WHERE_JOURNALS_COME_FROM,
        };
        complaint(&error, help)
    })?;
    for line in &replayed.cut {
        note(&format!(
            "line {line} breaks off, as by a crash: the run was replayed up to there"
        ));
    }
    output::print(&told(&replayed))?;
    Ok(match replayed.difference {
        None => Ended::Done,
        Some(_) => Ended::ExpectationFailed,
    })
}

fn told(replayed: &Replayed) -> String {
    let Replayed {
        runs,
        inputs,
        requests,
        attempts,
        unfinished,
        ..
    } = *replayed;
    let runs = if runs == 1 {
        String::new()
    } else {
        format!(" of {runs} runs")
    };
    match &replayed.difference {
        None => {
            let left = match unfinished {
                0 => String::new(),
                left => format!("; {left} requests had no end yet when the journal stopped"),
            };
            format!(
                "All {inputs} decisions{runs} are the same: {requests} requests, {attempts} attempts{left}.\n"
            )
        }
        Some(difference) => format!(
            "Line {}, at {}: another decision than the journal's.\n  journal  {}\n  replay   {}\n\
             The {} decisions before it are the same.\n",
            difference.line,
            difference.at,
            difference.journal,
            difference.replay,
            inputs - 1,
        ),
    }
}

/// Runs the reference arm's first replication once more, for its journal alone.
pub(super) fn write_journal(scenario: &Scenario, file: &Path) -> Result<(), Complaint> {
    let plan = scenario.plan(scenario.reference(), 0);
    let mut journal = begin(file, &plan)?;
    simulate(&plan, &mut journal)?;
    finish(journal, file)
}

/// Begins the journal of a plan's run, in the place of what is there.
pub(super) fn begin(file: &Path, plan: &RunPlan) -> Result<Journal<BufWriter<File>>, Complaint> {
    File::create(file)
        .and_then(|file| Journal::begin(BufWriter::new(file), &Head::of_plan(plan)))
        .map_err(|source| cannot_write(file, source))
}

pub(super) fn finish(journal: Journal<BufWriter<File>>, file: &Path) -> Result<(), Complaint> {
    let finished = journal.finish();
    finished.map_err(|source| cannot_write(file, source))?;
    note(&format!("journal: {}", file.display()));
    Ok(())
}

fn cannot_write(file: &Path, source: io::Error) -> Complaint {
    let what = file.display().to_string();
    Complaint::Write { what, source }
}

const WHERE_JOURNALS_COME_FROM: &str =
    "`run`, `live` and `serve` write a journal with --journal FILE";
