//! What the router keeps of an unfinished request only where something unusual befell it: a fallback,
//! an exclusion, a reservation, a caller that left. It stands apart from the rest of the request, so
//! that the hundreds in flight which need none of it take less of the processor's cache, and is
//! kept with the slot, so that nothing is allocated for it anew.

use std::ops::{Deref, DerefMut};

use crate::{
    admission::Reservation,
    in_flight::Walk,
    own_fallbacks::OwnFallbacks,
    request::{DeploymentId, ModelId},
    route_error::RouteError,
};

/// The unusual part of one request.
#[derive(Debug, Default)]
pub(crate) struct Rare {
    /// Copies that went to silent models.
    pub(crate) mirrors: u16,
    /// A slot was kept for it while it is parked.
    pub(crate) slot_granted: bool,
    /// What was reserved for the attempt under way, where the router reserves.
    pub(crate) reserved: Option<Reservation>,
    /// Nobody waits for its answer any more, although this deployment is still at it.
    pub(crate) caller_left: Option<DeploymentId>,
    /// The deployment that it tries while it is out.
    pub(crate) probing: Option<DeploymentId>,
    /// The error that the wait under way follows if that is the last: nothing is tried after it.
    pub(crate) gives_up_with: Option<RouteError>,
    /// Fallback walks that led here, the outermost first.
    pub(crate) walks: Vec<Walk>,
    /// Deployments that weighted failover had already.
    pub(crate) excluded: Vec<DeploymentId>,
    /// Deployments that refused it in this hop, and would again.
    pub(crate) refused: Vec<DeploymentId>,
    /// Deployments that were picked for it and whose tags count as its own from then on.
    pub(crate) tagged_by: Vec<DeploymentId>,
    /// Groups (and tiers) that this request was sent to, from its first fallback on.
    pub(crate) attempted: Vec<(ModelId, Option<i64>)>,
    /// The fallback lists that it brought along.
    pub(crate) own: Option<Box<OwnFallbacks>>,
    /// A stream of it broke, in 1.92: its own retries and fallbacks count no more.
    pub(crate) after_break: bool,
}

/// The unusual part, and whether anything may be in it. Whoever only looks finds an empty one where
/// nothing was written.
#[derive(Debug, Default)]
pub(crate) struct Rarely {
    written: bool,
    part: Box<Rare>,
}

impl Rarely {
    /// The unusual part, if anything may be in it.
    #[inline]
    pub(crate) fn if_any(&mut self) -> Option<&mut Rare> {
        match self.written {
            true => Some(&mut self.part),
            false => None,
        }
    }

    /// [`if_any`](Self::if_any), to look at.
    #[inline]
    pub(crate) fn peek(&self) -> Option<&Rare> {
        match self.written {
            true => Some(&self.part),
            false => None,
        }
    }

    /// Makes it empty for the next request.
    #[inline]
    pub(crate) fn clear(&mut self) {
        if self.written {
            self.written = false;
            self.part.clear();
        }
    }
}

impl Deref for Rarely {
    type Target = Rare;

    #[inline]
    fn deref(&self) -> &Rare {
        &self.part
    }
}

impl DerefMut for Rarely {
    #[inline]
    fn deref_mut(&mut self) -> &mut Rare {
        self.written = true;
        &mut self.part
    }
}

impl Rare {
    #[cold]
    fn clear(&mut self) {
        let Self {
            mirrors,
            slot_granted,
            reserved,
            caller_left,
            probing,
            gives_up_with,
            walks,
            excluded,
            refused,
            tagged_by,
            attempted,
            own,
            after_break,
        } = self;
        *mirrors = 0;
        *slot_granted = false;
        *reserved = None;
        *caller_left = None;
        *probing = None;
        *gives_up_with = None;
        walks.clear();
        excluded.clear();
        refused.clear();
        tagged_by.clear();
        attempted.clear();
        *own = None;
        *after_break = false;
    }
}
