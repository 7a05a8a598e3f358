//! Mirrors of requests: the recorder lists their attempts among those of the request.

use router::{Request, RequestId};

use super::{Live, World};
use crate::trace::{Played, PlayedAttempt};

impl World<'_> {
    /// A copy of a request arrives, for nobody.
    pub(super) fn mirror(&mut self, mirror: Request) {
        let of = mirror.origin.mirror_of.expect("it is a mirror");
        let (id, stream) = (mirror.id, mirror.stream);
        let mut asked = self.asked[&of].clone();
        asked.stream = stream;
        let live = Live {
            pace: self.pace(&asked.id),
            asked,
            held: None,
            played: Played::new(self.now),
            first_token_from: None,
            mirror_of: Some(of),
        };
        self.live.insert(id, live);
        let turn = self.router.arrive(self.now, mirror, &mut self.benches);
        self.obey(id, turn);
    }

    /// An attempt for a mirror; the request may have its answer already.
    pub(super) fn note_mirrored(&mut self, of: RequestId, attempt: PlayedAttempt) {
        let id = &self.asked[&of].id;
        let live = self.live.get_mut(&of).map(|live| &mut live.played);
        let played = live
            .or_else(|| self.done.get_mut(&of))
            .or_else(|| self.trace.requests.get_mut(id));
        if let Some(played) = played {
            played.attempts.push(attempt);
        }
    }
}
