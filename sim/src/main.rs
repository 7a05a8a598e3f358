//! The command `routelab`: parse, do, report what went wrong, exit with a code that says how it ended.

mod cli;
mod commands;
mod complaint;
mod output;
mod progress;

use std::process::ExitCode;

use clap::Parser as _;

use crate::{cli::Cli, commands::Ended, complaint::Complaint};

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and the version are answers; everything else is a mistake in what was typed.
            let code = if error.use_stderr() { EXIT_INPUT } else { 0 };
            return if error.print().is_ok() || code == 0 {
                code.into()
            } else {
                EXIT_INPUT.into()
            };
        }
    };
    match commands::execute(cli) {
        Ok(Ended::Done) => ExitCode::SUCCESS,
        Ok(Ended::ExpectationFailed) => EXIT_FAILED.into(),
        Ok(Ended::Undecided) => EXIT_UNDECIDED.into(),
        Ok(Ended::Interrupted) => EXIT_INTERRUPTED.into(),
        Err(Complaint::ReaderLeft) => ExitCode::SUCCESS,
        Err(complaint) => {
            complaint.print();
            EXIT_INPUT.into()
        }
    }
}

const EXIT_FAILED: u8 = 1;
const EXIT_INPUT: u8 = 2;
const EXIT_UNDECIDED: u8 = 3;
const EXIT_INTERRUPTED: u8 = 130;
