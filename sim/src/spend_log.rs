//! A run as LiteLLM would have logged it: one row for each attempt that ended, in the columns of its spend
//! logs. It is what `routelab calibrate` reads, so that a calibration can be tried where the truth is known.

use std::fmt::Write as _;

use mock_providers::rfc_3339;
use router::{Answer, Epoch, Event, Instant, Observer, Outcome, RequestId, Router};
use scenarios::RunPlan;

use crate::SimError;

/// Hears a run and writes its attempts down.
#[derive(Debug)]
pub struct SpendLog<'a> {
    plan: &'a RunPlan,
    /// A router of the same settings, asked for the names of models and never for decisions.
    names: Router,
    /// By number of the request.
    asked: Vec<Asked>,
    csv: String,
}

/// What is remembered of a request.
#[derive(Clone, Debug, Default)]
struct Asked {
    model: String,
    prompt_tokens: u32,
    stream: bool,
    attempts: u32,
}

/// An attempt that is written down.
struct Row<'a> {
    request: RequestId,
    from: Instant,
    to: Instant,
    first_token: Option<Instant>,
    deployment: Option<usize>,
    tokens: (u32, u32),
    error: Option<(u16, &'a str)>,
    is_cached: bool,
}

impl<'a> SpendLog<'a> {
    /// Will hear the run of `plan`.
    ///
    /// # Errors
    ///
    /// If the router refuses its settings.
    pub fn new(plan: &'a RunPlan) -> Result<Self, SimError> {
        let mut names = Router::new(&plan.router, plan.seed)?;
        for name in plan.workload.models() {
            names.model(name);
        }
        Ok(Self {
            plan,
            names,
            asked: Vec::new(),
            csv: format!("{HEADER}\n"),
        })
    }

    /// The log as CSV.
    #[must_use]
    pub fn csv(self) -> String {
        self.csv
    }

    fn asked(&self, request: RequestId) -> Asked {
        let place = usize::try_from(request.0).ok();
        place
            .and_then(|at| self.asked.get(at))
            .cloned()
            .unwrap_or_default()
    }

    fn write(&mut self, row: &Row<'_>) {
        let asked = self.asked(row.request);
        let deployment = row.deployment.map(|at| &self.plan.router.deployments[at]);
        let (id, group, model) = match deployment {
            Some(d) => (d.id.as_str(), d.model_name.as_str(), d.model.as_str()),
            None => ("", asked.model.as_str(), ""),
        };
        let sender = self.plan.workload.sender(self.plan.seed, row.request.0);
        let sender = sender.map_or("", |at| self.plan.workload.sender_names()[at].as_str());
        let metadata = row.error.map_or_else(String::new, |(status, class)| {
            format!(
                "{{\"status\": \"failure\", \"error_information\": {{\"error_code\": \"{status}\", \
                 \"error_class\": \"{class}\"}}}}"
            )
        });
        let epoch = self.plan.router.epoch;
        let first = match (row.first_token, row.error) {
            (Some(first), _) => time(epoch, first),
            (None, None) => time(epoch, row.to),
            (None, Some(_)) => String::new(),
        };
        let status = if row.error.is_some() {
            "failure"
        } else {
            "success"
        };
        let cells: [&str; 15] = [
            &format!("{}-{}", row.request.0, asked.attempts),
            "acompletion",
            &time(epoch, row.from),
            &time(epoch, row.to),
            &first,
            &quoted(model),
            &quoted(id),
            &quoted(group),
            &row.tokens.0.to_string(),
            &row.tokens.1.to_string(),
            status,
            &row.request.0.to_string(),
            if row.is_cached { "True" } else { "False" },
            &quoted(sender),
            &quoted(&metadata),
        ];
        let _ = writeln!(self.csv, "{}", cells.join(","));
    }
}

impl Observer for SpendLog<'_> {
    fn observe(&mut self, at: Instant, event: &Event<'_>) {
        // Copies that nobody waits for are not of the log's requests.
        if event.request().is_none_or(RequestId::is_mirror) {
            return;
        }
        if let Event::Arrived { request } = event {
            self.asked.push(Asked {
                model: self.names.model_name(request.model).to_owned(),
                prompt_tokens: request.prompt_tokens,
                stream: request.stream,
                attempts: 0,
            });
        } else if let Event::Sent { request, .. } = event {
            if let Ok(place) = usize::try_from(request.0)
                && let Some(asked) = self.asked.get_mut(place)
            {
                asked.attempts += 1;
            }
        } else if let Event::CacheHit { request, .. } = *event {
            let tokens = (self.asked(request).prompt_tokens, 0);
            self.write(&Row {
                request,
                from: at,
                to: at,
                first_token: None,
                deployment: None,
                tokens,
                error: None,
                is_cached: true,
            });
        } else if let Event::Finished {
            request,
            deployment,
            took,
            outcome,
            ..
        } = *event
        {
            let from = Instant::from_nanos(at.as_nanos() - nanos(took));
            let streamed = self.asked(request).stream;
            let (tokens, first, error) = match outcome {
                Outcome::Success {
                    usage,
                    first_token_after,
                } => (
                    (usage.prompt_tokens, usage.completion_tokens),
                    first_token_after.filter(|_| streamed),
                    None,
                ),
                Outcome::Failure(failure) => {
                    let status = failure
                        .status
                        .or_else(|| failure.class.status())
                        .unwrap_or(500);
                    ((0, 0), None, Some((status, failure.class.exception())))
                }
            };
            self.write(&Row {
                request,
                from,
                to: at,
                first_token: first.map(|after| from + after),
                deployment: Some(deployment.index()),
                tokens,
                error,
                is_cached: false,
            });
        } else if let Event::Answered {
            request,
            answer: Answer::Failed { .. },
        } = *event
            && self.asked(request).attempts == 0
        {
            self.write(&Row {
                request,
                from: at,
                to: at,
                first_token: None,
                deployment: None,
                tokens: (0, 0),
                error: Some((429, "RateLimitError")),
                is_cached: false,
            });
        }
    }
}

/// With microseconds, as LiteLLM writes times.
fn time(epoch: Epoch, at: Instant) -> String {
    let whole = at.as_nanos() / 1_000_000_000;
    let text = rfc_3339(epoch, Instant::from_nanos(whole * 1_000_000_000));
    let micros = at.as_nanos() % 1_000_000_000 / 1_000;
    format!("{}.{micros:06}+00:00", text.trim_end_matches('Z'))
}

/// A cell of a CSV.
fn quoted(text: &str) -> String {
    match text.contains(['"', ',', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

fn nanos(span: std::time::Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

const HEADER: &str = "request_id,call_type,startTime,endTime,completionStartTime,model,model_id,\
                      model_group,prompt_tokens,completion_tokens,status,session_id,cache_hit,user,metadata";
