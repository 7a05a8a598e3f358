//! Each request is answered exactly once, and nothing happens to it before it comes or after it is
//! over (invariant 1). The clock never runs back (invariant 3).

use std::collections::{BTreeMap, BTreeSet};

use router::{Event, Input, Instant, RequestId, Router};

use super::rule::{Found, Now, Rule};

/// Invariant 1.
#[derive(Debug, Default)]
pub(super) struct Once {
    open: BTreeSet<RequestId>,
    over: BTreeSet<RequestId>,
    /// Mirrors that were begun and have not arrived.
    begun: BTreeSet<RequestId>,
}

impl Rule for Once {
    fn event(&mut self, now: &Now<'_>, event: &Event<'_>, found: &mut Found) {
        let Some(request) = event.request() else {
            return;
        };
        if let Event::Arrived { .. } = event {
            if !self.open.insert(request) || self.over.contains(&request) {
                found.add(1, now, request, "it arrived a second time");
            }
            if request.is_mirror() && !self.begun.remove(&request) {
                found.add(1, now, request, "a mirror arrived that nobody began");
            }
            return;
        }
        if !self.open.contains(&request) {
            let when = match self.over.contains(&request) {
                true => "after its answer",
                false => "before it arrived",
            };
            found.add(1, now, request, format_args!("{when}: {event:?}"));
        }
        if let Event::Mirrored { mirror, .. } = event {
            self.begun.insert(*mirror);
        }
        if matches!(event, Event::Answered { .. } | Event::Cancelled { .. }) {
            self.open.remove(&request);
            self.over.insert(request);
        }
    }

    fn end(&mut self, now: &Now<'_>, found: &mut Found) {
        for &request in self.open.iter().chain(&self.begun) {
            found.add(1, now, request, "the run is over, and it has no answer");
        }
    }
}

/// Invariant 3.
#[derive(Debug, Default)]
pub(super) struct Clock {
    latest: Instant,
    sent: BTreeMap<RequestId, Instant>,
    /// Until when each waits.
    until: BTreeMap<RequestId, Instant>,
}

impl Clock {
    fn goes_on(&mut self, now: &Now<'_>, found: &mut Found) {
        if now.at < self.latest {
            let latest = self.latest;
            found.add(
                3,
                now,
                None,
                format_args!("the clock runs back from {latest}"),
            );
        }
        self.latest = self.latest.max(now.at);
    }
}

impl Rule for Clock {
    fn input(&mut self, now: &Now<'_>, _router: &Router, input: &Input<'_>, found: &mut Found) {
        self.goes_on(now, found);
        if let Input::Resume(request) = *input {
            let until = self.until.remove(&request);
            if until != Some(now.at) {
                let what = format_args!("it waited until {until:?}");
                found.add(3, now, request, what);
            }
        }
    }

    fn event(&mut self, now: &Now<'_>, event: &Event<'_>, found: &mut Found) {
        self.goes_on(now, found);
        if let Event::Sent { request, .. } = *event {
            self.sent.insert(request, now.at);
        } else if let Event::Waiting { request, until, .. } = *event {
            self.until.insert(request, until.max(now.at));
        } else if let Event::Finished { request, took, .. } = *event {
            let since = self.sent.remove(&request).map(|sent| now.at.since(sent));
            if since != Some(took) {
                let what = format_args!("its attempt took {took:?}, and was sent {since:?} ago");
                found.add(3, now, request, what);
            }
        } else if let Event::FirstToken { request, after, .. } = *event {
            let since = self.sent.get(&request).map(|&sent| now.at.since(sent));
            if since != Some(after) {
                let what = format_args!("its first token came after {after:?}, not {since:?}");
                found.add(3, now, request, what);
            }
        }
    }
}
