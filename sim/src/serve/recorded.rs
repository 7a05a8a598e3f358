//! The journal of a front door: opened at the end of its file, and given to the system once a second,
//! so that a crash costs the last second and no more.

use std::{
    fs::{File, OpenOptions},
    io::{self, BufWriter, Read as _, Seek as _, SeekFrom, Write as _},
    path::Path,
    time::Duration,
};

use router::live::LiveRouter;
use tokio::{sync::watch, time::timeout};

use super::metrics::Metrics;
use crate::journal::{Head, Journal};

/// Who hears the router of a front door.
pub(super) type Heard = (Metrics, Option<Journal<BufWriter<File>>>);

/// Begins a run at the end of the file. A line that a crash cut off is ended first.
pub(super) fn begin(file: &Path, head: &Head) -> io::Result<Journal<BufWriter<File>>> {
    let mut options = OpenOptions::new();
    let mut file = options.create(true).read(true).append(true).open(file)?;
    if file.seek(SeekFrom::End(0))? > 0 {
        file.seek(SeekFrom::End(-1))?;
        let mut last = [0];
        file.read_exact(&mut last)?;
        if last != *b"\n" {
            file.write_all(b"\n")?;
        }
    }
    let mut journal = Journal::begin(BufWriter::new(file), head)?;
    journal.flush()?;
    Ok(journal)
}

/// Gives the journal to the system again and again, until the front door stops.
pub(super) async fn keep(
    live: LiveRouter<Heard>,
    mut stopped: watch::Receiver<bool>,
    tell: fn(&str),
) {
    while timeout(EVERY, stopped.wait_for(|stopped| *stopped))
        .await
        .is_err()
    {
        if !flush(&live, tell) {
            return;
        }
    }
}

/// Gives the journal to the system. `false`: it has ended, and that was told.
pub(super) fn flush(live: &LiveRouter<Heard>, tell: fn(&str)) -> bool {
    let flushed = live.look(|_, (_, journal), _| {
        let flushed = journal.as_mut().map_or(Ok(()), Journal::flush);
        if flushed.is_err() {
            *journal = None;
        }
        flushed
    });
    if let Err(error) = &flushed {
        tell(&format!(
            "the journal ends here, and requests go on without it: {error}"
        ));
    }
    flushed.is_ok()
}

const EVERY: Duration = Duration::from_secs(1);
