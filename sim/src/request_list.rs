//! The requests of a run as JSON lines: when each comes, what it asks for, and how long it is. Another
//! driver (a load tool, a real router in another language) can send the very same ones.

use router::Seed;
use scenarios::Workload;
use serde::Serialize;

/// One request. Its number is what a provider's luck is keyed by (`x-mock-request`).
#[derive(Serialize)]
struct Line<'a> {
    request: u64,
    /// Seconds since the run's beginning.
    at_s: f64,
    model: &'a str,
    prompt_tokens: u32,
    /// What the model would say if nothing cut it short.
    output_tokens: u32,
    max_tokens: Option<u32>,
    stream: bool,
    /// Who sends it, where the scenario names senders.
    sender: Option<&'a str>,
}

/// The requests of `workload` under `seed`, one JSON object a line, in the order in which they come.
#[must_use]
pub fn request_list(workload: &Workload, seed: Seed) -> String {
    let mut text = String::new();
    for (request, arrival) in (0..).zip(workload.arrivals(seed)) {
        let model = workload.models().get(usize::from(arrival.model));
        let sender = workload.sender(seed, request);
        let line = Line {
            request,
            at_s: arrival.at.as_secs_f64(),
            model: model.map_or("", String::as_str),
            prompt_tokens: arrival.prompt_tokens,
            output_tokens: arrival.output_tokens,
            max_tokens: arrival.max_tokens,
            stream: arrival.stream,
            sender: sender.map(|at| workload.sender_names()[at].as_str()),
        };
        // Numbers and texts alone: there is nothing that JSON cannot say.
        text.push_str(&serde_json::to_string(&line).unwrap_or_default());
        text.push('\n');
    }
    text
}
