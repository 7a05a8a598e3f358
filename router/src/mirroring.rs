//! `silent_model`: a copy of the request goes to another group, and nobody waits for its answer.
//! (semantics 9.4)
//!
//! Each pick of a deployment that has one starts a mirror, so retries and fallbacks are mirrored
//! too, and so is an attempt that then finds no slot. A mirror is a request of its own: the driver
//! takes it from the router and lets it arrive. It has retries, fallbacks, cooldowns and counters of
//! its own and draws by its own id, so the primary is neither delayed nor changed. Mirrors are not
//! mirrored again.

use std::{fmt, sync::Arc};

use crate::{
    observe::{Event, Observer},
    request::{Api, ModelId, Origin, Overrides, Request, RequestId},
    router::Router,
    step::Ticket,
    time::Instant,
};

/// Mirrors that were begun and that the driver has not yet taken, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct Mirrors {
    waiting: Vec<Request>,
    /// The last settings of a request that were reduced for its mirror: streams of requests share
    /// theirs, so most mirrors find them here.
    reduced: Option<(Arc<Overrides>, Option<Arc<Overrides>>)>,
}

impl Router {
    /// The next mirror to let [arrive](Router::arrive). To be asked after every input, until it
    /// gives none.
    #[inline]
    pub fn take_mirror(&mut self) -> Option<Request> {
        match self.mirrors.waiting.is_empty() {
            true => None,
            false => Some(self.mirrors.waiting.remove(0)),
        }
    }

    /// A deployment with a silent model was picked.
    #[inline(never)]
    pub(crate) fn mirror(
        &mut self,
        now: Instant,
        ticket: Ticket,
        group: ModelId,
        obs: &mut impl Observer,
    ) {
        let state = self.requests.get(ticket);
        let primary = &state.request;
        let overrides = primary.overrides.as_ref();
        let embeds = overrides.is_some_and(|o| o.api == Api::Embedding);
        if primary.origin.mirror_of.is_some() || embeds || state.rare.mirrors == u16::MAX {
            return;
        }
        let id = mirror_id(primary.id, state.rare.mirrors);
        state.rare.mirrors += 1;
        let mirror = Request {
            id,
            model: group,
            prompt_tokens: primary.prompt_tokens,
            max_tokens: primary.max_tokens,
            stream: primary.stream && self.config.profile.mirrors_stream,
            origin: Origin {
                priority: None,
                mirror_of: Some(primary.id),
                ..primary.origin
            },
            overrides: overrides.and_then(|own| self.mirrors.reduced(own)),
        };
        obs.observe(
            now,
            &Event::Mirrored {
                request: primary.id,
                mirror: id,
                group,
            },
        );
        self.mirrors.waiting.push(mirror);
    }
}

impl Mirrors {
    pub(crate) fn waiting(&self) -> &[Request] {
        &self.waiting
    }

    /// A request's settings without those that its mirror does not get: its retries, its fallbacks
    /// and whether it wants any (observed; timeouts, tags and the region stay).
    fn reduced(&mut self, own: &Arc<Overrides>) -> Option<Arc<Overrides>> {
        if let Some((of, reduced)) = &self.reduced
            && Arc::ptr_eq(of, own)
        {
            return reduced.clone();
        }
        let kept = Overrides {
            num_retries: None,
            disable_fallbacks: false,
            fallbacks: None,
            context_window_fallbacks: None,
            content_policy_fallbacks: None,
            ..Overrides::clone(own)
        };
        let reduced = (kept != Overrides::default()).then(|| Arc::new(kept));
        self.reduced = Some((Arc::clone(own), reduced.clone()));
        reduced
    }
}

/// The id of a request's mirror: unique in the run, and the same in every run.
fn mirror_id(of: RequestId, ordinal: u16) -> RequestId {
    assert!(
        of.0 < 1 << ORDINAL_AT,
        "requests that are mirrored have ids below 2^{ORDINAL_AT}, found {of}"
    );
    RequestId(RequestId::MIRROR | (u64::from(ordinal) << ORDINAL_AT) | of.0)
}

/// A mirror's id for people: `#7, mirror 1`.
pub(crate) fn show(id: RequestId, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let of = id.0 & ((1 << ORDINAL_AT) - 1);
    let ordinal = (id.0 & !RequestId::MIRROR) >> ORDINAL_AT;
    write!(f, "#{of}, mirror {}", ordinal + 1)
}

/// Which of the request's mirrors it is, from this bit on.
const ORDINAL_AT: u32 = 47;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_mirrors_share_an_id_with_each_other_or_with_a_request() {
        let last = (1 << ORDINAL_AT) - 1;
        let mut ids = vec![0, 1, last];
        for request in [0, 1, last] {
            for ordinal in [0, 1, u16::MAX] {
                ids.push(mirror_id(RequestId(request), ordinal).0);
            }
        }
        ids.sort_unstable();
        let all = ids.len();
        ids.dedup();

        assert_eq!(ids.len(), all);
    }

    #[test]
    fn a_mirrors_id_is_shown_as_that_of_its_request() {
        assert_eq!(mirror_id(RequestId(7), 2).to_string(), "#7, mirror 3");
    }

    #[test]
    fn settings_that_hold_nothing_for_a_mirror_are_dropped_and_remembered() {
        let mut mirrors = Mirrors::default();
        let own = Arc::new(Overrides {
            num_retries: Some(0),
            ..Overrides::default()
        });
        let timed = Arc::new(Overrides {
            num_retries: Some(0),
            timeout: Some(std::time::Duration::from_secs(1)),
            ..Overrides::default()
        });

        assert_eq!(mirrors.reduced(&own), None);
        let first = mirrors.reduced(&timed).expect("a timeout stays");
        assert_eq!((first.num_retries, first.timeout), (None, timed.timeout));
        let second = mirrors.reduced(&timed).expect("a timeout stays");
        assert!(Arc::ptr_eq(&first, &second));
    }
}
