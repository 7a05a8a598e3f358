//! How far the runs are, on standard error: a bar with the time to go on a terminal, a quiet line
//! elsewhere, with another for each quarter of a long sweep. Also where an interrupt is heard.

use std::{
    io::{IsTerminal as _, Write as _, stderr},
    sync::{
        OnceLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use sim::Watch;

/// Shows progress, and tells runs to stop once the user interrupts.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    /// Millionths of runs that are done.
    done: AtomicU64,
    /// Millionths of runs that make a quarter; none if quarters are not told.
    quarter: Option<u64>,
}

/// Whether the user interrupted, which holds for all that the process still has to do.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Begins to listen for an interrupt, once in a process. A second interrupt ends it at once.
fn listen() {
    static LISTENING: OnceLock<()> = OnceLock::new();
    LISTENING.get_or_init(|| {
        let listening = ctrlc::set_handler(move || {
            if INTERRUPTED.swap(true, Ordering::Relaxed) {
                std::process::exit(130);
            }
        });
        if let Err(error) = listening {
            note(&format!(
                "an interrupt will lose the finished runs: {error}"
            ));
        }
    });
}

impl Progress {
    /// Begins to show the progress of this many runs, and to listen for an interrupt.
    pub(crate) fn start(runs: usize, threads: usize) -> Self {
        Self::begin(runs, threads, true)
    }

    /// The same for one of many batches: a small one is not worth a line.
    pub(crate) fn start_batch(runs: usize, threads: usize) -> Self {
        Self::begin(runs, threads, runs >= WORTH_A_LINE)
    }

    fn begin(runs: usize, threads: usize, is_told: bool) -> Self {
        listen();
        let bar = ProgressBar::with_draw_target(
            Some(runs as u64 * PARTS_OF_A_RUN),
            ProgressDrawTarget::stderr(),
        );
        let style = "{msg}  [{bar:40}] {percent:>3} %  {eta} to go";
        bar.set_style(
            ProgressStyle::with_template(style)
                .expect("the template is valid")
                .progress_chars("=> "),
        );
        let message = format!(
            "{runs} {} on {threads} {}",
            if runs == 1 { "run" } else { "runs" },
            if threads == 1 { "thread" } else { "threads" },
        );
        if stderr().is_terminal() {
            bar.set_message(message);
        } else if is_told {
            note(&message);
        }
        let quarters_told = !stderr().is_terminal() && runs >= LONG_SWEEP;
        Self {
            bar,
            done: AtomicU64::new(0),
            quarter: quarters_told.then(|| (runs as u64 * PARTS_OF_A_RUN).div_ceil(4)),
        }
    }

    /// Clears the bar, and tells whether the user interrupted.
    pub(crate) fn finish(&self) -> bool {
        self.bar.finish_and_clear();
        self.is_cancelled()
    }
}

impl Watch for Progress {
    fn advanced(&self, share: f64) {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "a share is between 0 and 1"
        )]
        let parts = (share * PARTS_OF_A_RUN as f64) as u64;
        let before = self.done.fetch_add(parts, Ordering::Relaxed);
        self.bar.set_position(before + parts);
        if let Some(quarter) = self.quarter
            && before / quarter < (before + parts) / quarter
        {
            note(&format!("{} % done", (before + parts) / quarter * 25));
        }
    }

    fn is_cancelled(&self) -> bool {
        INTERRUPTED.load(Ordering::Relaxed)
    }
}

/// A line for the user, apart from the results. Nobody has to read it.
pub(crate) fn note(text: &str) {
    let _ = writeln!(stderr(), "{text}");
}

/// Runs from which on a sweep is worth more than one line.
const LONG_SWEEP: usize = 1_000;
/// Runs from which on a batch is told.
const WORTH_A_LINE: usize = 100;
const PARTS_OF_A_RUN: u64 = 1_000_000;
