//! Hears routers, and writes what they are given and what they decide.

use std::io::{self, Write};

use router::{Decision, Input, Instant, ModelId, Observer, Router};
use serde::Serialize;

use super::line::{Arrival, Clear, Finished, Head, told};

/// Writes a journal. It is an observer, so that it hears a run in virtual time and one over HTTP alike.
///
/// What is written is buffered: [`flush`](Self::flush) gives it to the system. Once writing fails
/// nothing more is written, and [`finish`](Self::finish) tells why.
#[derive(Debug)]
pub struct Journal<W: Write> {
    out: W,
    /// The line of the input that is being decided.
    line: Vec<u8>,
    /// Mirrors that waited for their driver before that input.
    mirrors: usize,
    /// By instance: how many names are written down.
    names: Vec<usize>,
    failed: Option<io::Error>,
}

impl<W: Write> Journal<W> {
    /// Begins a journal.
    ///
    /// # Errors
    ///
    /// If the head cannot be written, or would not be read as it is.
    pub fn begin(mut out: W, head: &Head) -> io::Result<Self> {
        let text = serde_json::to_string(head)?;
        if serde_json::from_str::<Head>(&text)? != *head {
            return Err(io::Error::other(
                "a setting of the router is a number that JSON cannot hold",
            ));
        }
        writeln!(out, "{text}")?;
        Ok(Self {
            out,
            line: Vec::new(),
            mirrors: 0,
            names: Vec::new(),
            failed: None,
        })
    }

    /// Gives what is buffered to the system.
    ///
    /// # Errors
    ///
    /// What stopped the writing, once.
    pub fn flush(&mut self) -> io::Result<()> {
        match self.failed.take() {
            Some(error) => {
                self.failed = Some(io::Error::other("the journal ended before"));
                Err(error)
            }
            None => self.out.flush(),
        }
    }

    /// Ends the journal.
    ///
    /// # Errors
    ///
    /// What stopped the writing.
    pub fn finish(mut self) -> io::Result<W> {
        self.flush()?;
        Ok(self.out)
    }

    /// Whether writing goes on.
    fn writes(&self) -> bool {
        self.failed.is_none()
    }

    /// Writes names that became known since the last time.
    fn write_names(&mut self, router: &Router) -> io::Result<()> {
        let instance = router.instance();
        let place = usize::try_from(instance).unwrap_or(usize::MAX);
        if self.names.len() <= place {
            self.names.resize(place + 1, 0);
        }
        let known = router.names();
        if self.names[place] == known {
            return Ok(());
        }
        let ids = self.names[place]..known;
        let ids = ids.filter_map(|id| u32::try_from(id).ok().map(ModelId));
        let names: Vec<&str> = ids.map(|id| router.model_name(id)).collect();
        self.out.write_all(b"{")?;
        if instance != 0 {
            write!(self.out, "\"router\":{instance},")?;
        }
        self.out.write_all(b"\"names\":")?;
        serde_json::to_writer(&mut self.out, &names)?;
        self.out.write_all(b"}\n")?;
        self.names[place] = known;
        Ok(())
    }

    fn begin_line(&mut self, at: Instant, router: &Router, input: &Input<'_>) -> io::Result<()> {
        if matches!(input, Input::Arrive(_)) {
            self.write_names(router)?;
        }
        self.line.clear();
        self.mirrors = router.waiting_mirrors().count();
        write!(self.line, "{{\"at\":{},", at.as_nanos())?;
        if router.instance() != 0 {
            write!(self.line, "\"router\":{},", router.instance())?;
        }
        match *input {
            Input::Arrive(request) => self.tell("arrive", &Arrival::of(router, request)),
            Input::AttemptFinished { request, outcome } => {
                let outcome = *outcome;
                self.tell("attempt_finished", &Finished { request, outcome })
            }
            Input::Resume(request) => self.tell("resume", &request),
            Input::Admitted(request) => self.tell("admitted", &request),
            Input::FirstToken(request) => self.tell("first_token", &request),
            Input::Cancel(request) => self.tell("cancel", &request),
            Input::Clear(deployment) => self.tell("clear", &Clear { deployment }),
        }
    }

    fn tell(&mut self, what: &str, value: &impl Serialize) -> io::Result<()> {
        write!(self.line, "\"{what}\":")?;
        Ok(serde_json::to_writer(&mut self.line, value)?)
    }

    fn end_line(&mut self, router: &Router, decision: &Decision<'_>) -> io::Result<()> {
        self.line.extend_from_slice(b",\"then\":");
        self.line.extend(told(router, decision, self.mirrors)?);
        self.line.extend_from_slice(b"}\n");
        self.out.write_all(&self.line)
    }
}

impl<W: Write> Observer for Journal<W> {
    const INPUTS: bool = true;

    fn input(&mut self, at: Instant, router: &Router, input: &Input<'_>) {
        if self.writes() {
            self.failed = self.begin_line(at, router, input).err();
        }
    }

    fn decided(&mut self, router: &Router, decision: &Decision<'_>) {
        if self.writes() {
            self.failed = self.end_line(router, decision).err();
        }
    }
}
