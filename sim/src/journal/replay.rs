//! Feeds a journal through fresh routers, and compares what they decide with what stands there.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::BufRead,
};

use router::{
    Decision, DeploymentId, Fleet, Held, Instant, Observer, Request, RequestId, Router, Turn,
};
use scenarios::error::one_line;
use serde_json::{Value, value::RawValue};

use super::line::{Arrival, FORM, Finished, Head, Line, told};

/// What a replay came to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Replayed {
    /// Runs in the file.
    pub runs: u64,
    /// Inputs that were decided again.
    pub inputs: u64,
    /// Requests that arrived, mirrors among them.
    pub requests: u64,
    /// Attempts that were sent.
    pub attempts: u64,
    /// Requests without an end: the journal stopped before.
    pub unfinished: u64,
    /// Lines that a crash cut off, counted from 1; each is the last of its run.
    pub cut: Vec<u64>,
    /// The first decision that is another one. Nothing behind it was looked at.
    pub difference: Option<Difference>,
}

/// A decision that is not the journal's.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// The line, from 1.
    pub line: u64,
    /// The moment of the input.
    pub at: Instant,
    /// What the journal says.
    pub journal: String,
    /// What the router says now.
    pub replay: String,
}

/// Why a journal cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// A line is none of a journal's, or makes no sense where it stands.
    #[error("line {line}: {}", one_line(what))]
    Line {
        /// Which, from 1.
        line: u64,
        /// What was found, and what was expected.
        what: String,
    },
    /// It cannot be read.
    #[error("it cannot be read: {0}")]
    Read(#[from] std::io::Error),
    /// Nothing stands in it.
    #[error("it is empty: expected a head, {{\"journal\":{FORM},…}}, as the first line")]
    Empty,
}

/// Replays a journal, up to the first difference.
///
/// # Errors
///
/// If it is none, or broken elsewhere than at the end of a run.
pub fn replay(mut journal: impl BufRead) -> Result<Replayed, JournalError> {
    let mut result = Replayed::default();
    let mut run: Option<Replay> = None;
    // A line that cannot be read, and why: forgiven where the run ends with it.
    let mut broken: Option<(u64, String)> = None;
    let mut text = Vec::new();
    let mut number = 0;
    loop {
        text.clear();
        if journal.read_until(b'\n', &mut text)? == 0 {
            break;
        }
        number += 1;
        let at_line = |what: String| JournalError::Line { line: number, what };
        let ends = text.ends_with(b"\n");
        if text.trim_ascii().is_empty() {
            continue;
        }
        if text.starts_with(b"{\"journal\"") {
            result.cut.extend(broken.take().map(|(line, _)| line));
            result.unfinished += run.take().map_or(0, |run| run.held.len() as u64);
            match serde_json::from_slice::<Head>(text.trim_ascii()) {
                Ok(head) => run = Some(Replay::new(&head).map_err(at_line)?),
                Err(error) => {
                    return Err(at_line(format!("this is no head of a journal: {error}")));
                }
            }
            result.runs += 1;
            continue;
        }
        if let Some((line, what)) = broken {
            return Err(JournalError::Line { line, what });
        }
        let Some(run) = &mut run else {
            let first: String = String::from_utf8_lossy(&text).chars().take(40).collect();
            return Err(at_line(format!(
                "found `{}`: expected a head, {{\"journal\":{FORM},…}}",
                first.trim_end()
            )));
        };
        match serde_json::from_slice::<Line>(text.trim_ascii()) {
            Ok(line) => {
                if let Some(difference) = run.line(line, &mut result).map_err(at_line)? {
                    result.difference = Some(Difference {
                        line: number,
                        ..difference
                    });
                    return Ok(result);
                }
            }
            // Only one that breaks off can have been cut.
            Err(error) if error.is_eof() || !ends => {
                broken = Some((number, format!("the line breaks off: {error}")));
            }
            Err(error) => return Err(at_line(format!("this is no line of a journal: {error}"))),
        }
    }
    result.cut.extend(broken.map(|(line, _)| line));
    match run {
        None => Err(JournalError::Empty),
        Some(run) => {
            result.unfinished += run.held.len() as u64;
            Ok(result)
        }
    }
}

/// A run that is replayed.
struct Replay {
    fleet: Fleet,
    deployments: usize,
    now: Instant,
    /// What unfinished requests hold, by their instance.
    held: BTreeMap<(usize, RequestId), Held>,
    /// Parked requests that have a slot.
    released: BTreeSet<RequestId>,
    /// Mirrors that were begun and have not arrived.
    mirrors: BTreeMap<(usize, RequestId), Request>,
}

/// Hears the latest decision.
#[derive(Default)]
struct Ear {
    then: Vec<u8>,
}

impl Observer for Ear {
    const INPUTS: bool = true;

    fn decided(&mut self, router: &Router, decision: &Decision<'_>) {
        // A decision that is no JSON equals none.
        self.then = told(router, decision, 0).unwrap_or_default();
    }
}

impl Replay {
    fn new(head: &Head) -> Result<Self, String> {
        if head.form() != FORM {
            let found = head.form();
            return Err(format!(
                "a journal of form {found}: this version reads form {FORM}"
            ));
        }
        let instances = head.instances();
        if !(1..=MOST_INSTANCES).contains(&instances) {
            return Err(format!(
                "`instances` is {instances}: expected 1 to {MOST_INSTANCES}"
            ));
        }
        let fleet = head.fleet();
        Ok(Self {
            fleet: fleet.map_err(|error| format!("the router cannot be built: {error}"))?,
            deployments: head.deployments(),
            now: Instant::ZERO,
            held: BTreeMap::new(),
            released: BTreeSet::new(),
            mirrors: BTreeMap::new(),
        })
    }

    /// One line; gives the difference that it shows.
    fn line(&mut self, line: Line, result: &mut Replayed) -> Result<Option<Difference>, String> {
        let instance = usize::try_from(line.router).unwrap_or(usize::MAX);
        if instance >= self.fleet.count() {
            let most = self.fleet.count() - 1;
            return Err(format!("`router` is {instance}: expected 0 to {most}"));
        }
        if let Some(names) = &line.names {
            for name in names {
                self.fleet.give(instance, |router| router.model(name));
            }
            return Ok(None);
        }
        let at = line.at.ok_or("there is no `at`, and no `names`")?;
        if at < self.now {
            return Err(format!("time runs back: {at} after {}", self.now));
        }
        self.now = at;
        let then = line.then.as_deref();
        let then = then.ok_or("there is no `then`: expected the decision")?;
        let mut ear = Ear::default();
        let asked = [
            line.arrive.map(Box::new).map(Asked::Arrive),
            line.attempt_finished.map(Asked::Finished),
            line.resume.map(Asked::Resume),
            line.admitted.map(Asked::Admitted),
            line.first_token.map(Asked::FirstToken),
            line.cancel.map(Asked::Cancel),
            line.clear.map(|clear| Asked::Clear(clear.deployment)),
        ];
        let mut asked = asked.into_iter().flatten();
        let (Some(one), None) = (asked.next(), asked.next()) else {
            return Err(
                "expected exactly one of arrive, attempt_finished, resume, admitted, first_token, \
                 cancel and clear"
                    .to_owned(),
            );
        };
        let begun = self.ask(instance, one, &mut ear, result)?;
        while let Some(mirror) = self.fleet.give(instance, Router::take_mirror) {
            self.mirrors.insert((instance, mirror.id), mirror);
        }
        result.inputs += 1;
        let replay = String::from_utf8_lossy(&ear.then).into_owned();
        let replay = begun.unwrap_or(replay);
        Ok((!same(then, &replay)).then(|| Difference {
            line: 0,
            at,
            journal: then.get().to_owned(),
            replay,
        }))
    }

    /// Gives an input to its router. What it gives is said in the place of the decision.
    fn ask(
        &mut self,
        instance: usize,
        asked: Asked,
        ear: &mut Ear,
        result: &mut Replayed,
    ) -> Result<Option<String>, String> {
        let now = self.now;
        match asked {
            Asked::Arrive(arrival) => return self.arrive(instance, *arrival, ear, result),
            Asked::Finished(Finished { request, outcome }) => {
                let held = self.take(instance, request, "attempt_finished")?;
                let Held::Attempt(attempt) = held else {
                    return Err(holds(request, &held, "an attempt under way"));
                };
                let finished =
                    |router: &mut Router| router.attempt_finished(now, attempt, &outcome, ear);
                let turn = self.fleet.give(instance, finished);
                self.keep(instance, request, turn, result);
            }
            Asked::Resume(request) => {
                let held = self.take(instance, request, "resume")?;
                let Held::Wait(wait) = held else {
                    return Err(holds(request, &held, "a wait"));
                };
                let turn = (self.fleet).give(instance, |router| router.resume(now, wait, ear));
                self.keep(instance, request, turn, result);
            }
            Asked::Admitted(request) => {
                let held = self.take(instance, request, "admitted")?;
                let Held::Parked(parked) = held else {
                    return Err(holds(request, &held, "a wait for a slot"));
                };
                if !self.released.remove(&request) {
                    return Err(format!("request {request} has no slot yet"));
                }
                let turn = (self.fleet).give(instance, |router| router.admitted(now, parked, ear));
                self.keep(instance, request, turn, result);
            }
            Asked::FirstToken(request) => {
                let Some(Held::Attempt(attempt)) = self.held.get(&(instance, request)) else {
                    return Err(format!("request {request} has no attempt under way"));
                };
                let first = |router: &mut Router| router.first_token(now, attempt, ear);
                let released = self.fleet.give(instance, first);
                self.released.extend(released);
            }
            Asked::Cancel(request) => {
                let held = self.take(instance, request, "cancel")?;
                self.released.remove(&request);
                let released = (self.fleet).give(instance, |router| router.cancel(now, held, ear));
                self.released.extend(released);
            }
            Asked::Clear(None) => {
                (self.fleet).give(instance, |router| router.clear_cooldowns(now, ear));
            }
            Asked::Clear(Some(deployment)) => {
                if deployment.index() >= self.deployments {
                    let (found, count) = (deployment.0, self.deployments);
                    return Err(format!(
                        "deployment {found}: there are {count}, from 0 to {}",
                        count - 1
                    ));
                }
                (self.fleet).give(instance, |router| {
                    router.clear_cooldown(now, deployment, ear)
                });
            }
        }
        Ok(None)
    }

    fn arrive(
        &mut self,
        instance: usize,
        arrival: Arrival,
        ear: &mut Ear,
        result: &mut Replayed,
    ) -> Result<Option<String>, String> {
        let id = arrival.id;
        if self.held.contains_key(&(instance, id)) {
            return Err(format!("request {id} arrives, and is under way already"));
        }
        if !id.is_mirror() && id.0 >= 1 << 47 {
            return Err(format!("request {}: expected a number below 2^47", id.0));
        }
        let model = (self.fleet).give(instance, |router| router.model(&arrival.model));
        let request = arrival.request(model);
        if id.is_mirror() {
            match self.mirrors.remove(&(instance, id)) {
                Some(mirror) if mirror == request => {}
                Some(_) => return Ok(Some(format!("another mirror than this begins as {id}"))),
                None => return Ok(Some(format!("no mirror {id} begins"))),
            }
        }
        let now = self.now;
        let turn = (self.fleet).give(instance, |router| router.arrive(now, request, ear));
        result.requests += 1;
        self.keep(instance, id, turn, result);
        Ok(None)
    }

    fn take(&mut self, instance: usize, request: RequestId, what: &str) -> Result<Held, String> {
        let held = self.held.remove(&(instance, request));
        held.ok_or_else(|| {
            format!(
                "{what} of request {request}, which is not under way: expected its arrival before"
            )
        })
    }

    fn keep(&mut self, instance: usize, request: RequestId, turn: Turn, result: &mut Replayed) {
        self.released.extend(turn.released);
        if let Ok(held) = Held::of(turn.step) {
            result.attempts += u64::from(matches!(held, Held::Attempt(_)));
            self.held.insert((instance, request), held);
        }
    }
}

/// An input that stands in a line.
enum Asked {
    Arrive(Box<Arrival>),
    Finished(Finished),
    Resume(RequestId),
    Admitted(RequestId),
    FirstToken(RequestId),
    Cancel(RequestId),
    Clear(Option<DeploymentId>),
}

fn holds(request: RequestId, held: &Held, expected: &str) -> String {
    let found = match held {
        Held::Attempt(_) => "an attempt under way",
        Held::Parked(_) => "a wait for a slot",
        Held::Wait(_) => "a wait",
    };
    format!("request {request} has {found}: expected {expected}")
}

/// As many instances as a scenario may have.
const MOST_INSTANCES: u32 = 1_000;

/// Whether two decisions are one, however they are spaced.
fn same(journal: &RawValue, replay: &str) -> bool {
    let value = |text: &str| serde_json::from_str::<Value>(text).ok();
    journal.get() == replay || value(journal.get()).is_some_and(|v| Some(v) == value(replay))
}
