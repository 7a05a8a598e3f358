//! The live state of a deployment that more than one policy reads. What only one strategy reads is
//! kept by that strategy, so that changing the strategy cannot change cooldowns.

use std::{collections::VecDeque, time::Duration};

use crate::{
    observe::CooldownReason,
    operator::Cooldown,
    probe::Probe,
    request::{DeploymentId, RequestId},
    shared_cooldowns::SharedCooldown,
    time::Instant,
    window::TumblingCount,
};

/// Live state of one deployment.
#[derive(Debug, Default)]
pub(crate) struct DeploymentState {
    /// In cooldown before this moment.
    cooled_until: Instant,
    /// When the current cooldown began.
    cooled_since: Instant,
    /// What the current cooldown's last writer asked for; its length is what the "try again in"
    /// hint reports (semantics 4.3, 4.7).
    cooldown_shown: CooldownShown,
    /// When it may be tried although it is out.
    pub(crate) probe: Probe,
    /// Failures within 60 s of the first of them.
    pub(crate) fails: TumblingCount,
    /// Successes within 60 s of the first of them.
    pub(crate) successes: TumblingCount,
    /// Failures counted against `allowed_fails`, one counter for each class that a policy of the
    /// deployment's own names; the last is everybody else's.
    pub(crate) allowed_fails: [TumblingCount; ALLOWED_FAILS_COUNTERS],
    /// Attempts sent and not ended.
    pub(crate) in_flight: u32,
    /// Slots taken, by attempts in flight and by released requests that were not yet admitted.
    pub(crate) slots_taken: u32,
    /// Requests parked for a slot, first come first served.
    pub(crate) parked: VecDeque<RequestId>,
}

/// What a failure that asks for a cooldown says of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct CooldownShown {
    pub(crate) length: Duration,
    pub(crate) why: CooldownReason,
    pub(crate) status: Option<u16>,
}

impl Default for CooldownShown {
    fn default() -> Self {
        Self {
            length: Duration::ZERO,
            why: CooldownReason::RateLimited,
            status: None,
        }
    }
}

/// One for each error class, and one shared.
pub(crate) const ALLOWED_FAILS_COUNTERS: usize = crate::outcome::ErrorClass::ALL.len() + 1;

impl DeploymentState {
    /// Until when it is in cooldown, if it is.
    pub(crate) fn cooled_at(&self, now: Instant) -> Option<Instant> {
        (now < self.cooled_until).then_some(self.cooled_until)
    }

    /// Until when nobody may be sent there: it is in cooldown, and no trial is due.
    pub(crate) fn out_until(&self, now: Instant) -> Option<Instant> {
        self.cooled_at(now).filter(|_| !self.probe.may_begin(now))
    }

    /// When it may be used again, as far as is known, if it is in cooldown.
    pub(crate) fn returns_at(&self, now: Instant) -> Option<Instant> {
        let until = self.cooled_at(now)?;
        match self.waits_for_trial() {
            true => Some(self.probe.due().max(now)),
            false => Some(until),
        }
    }

    /// Whether only a trial brings it back.
    pub(crate) fn waits_for_trial(&self) -> bool {
        self.cooled_until == Instant::NEVER
    }

    /// Moves the cooldown's end.
    pub(crate) fn end_at(&mut self, until: Instant) {
        self.cooled_until = until;
    }

    /// The length that the running cooldown was asked to have.
    pub(crate) fn cooldown_shown(&self) -> Duration {
        self.cooldown_shown.length
    }

    /// The cooldown that is running.
    pub(crate) fn cooldown(&self, now: Instant, deployment: DeploymentId) -> Option<Cooldown> {
        let CooldownShown {
            length,
            why,
            status,
        } = self.cooldown_shown;
        self.returns_at(now).map(|until| Cooldown {
            deployment,
            since: self.cooled_since,
            until,
            why,
            status,
            length,
        })
    }

    /// Its cooldown, for the shared store.
    pub(crate) fn record(&self) -> SharedCooldown {
        SharedCooldown {
            until: self.cooled_until,
            since: self.cooled_since,
            shown: self.cooldown_shown,
            probe: self.probe,
        }
    }

    /// Takes a cooldown out of the shared store for its own.
    pub(crate) fn follow(&mut self, record: SharedCooldown) {
        self.cooled_until = record.until;
        self.cooled_since = record.since;
        self.cooldown_shown = record.shown;
        self.probe = record.probe;
    }

    /// Ends the cooldown; `false`: none was running.
    pub(crate) fn end_cooldown(&mut self, now: Instant) -> bool {
        let cooled = self.cooled_at(now).is_some();
        self.cooled_until = self.cooled_until.min(now);
        cooled
    }

    /// Benches it as `asked`. A cooldown that is running keeps its end: only the length that is
    /// shown changes (semantics 4.3: a live cache key keeps its first expiry). With `longer_wins`
    /// the later end counts, and what asked for it is shown (BR-013).
    pub(crate) fn cool(
        &mut self,
        now: Instant,
        asked: CooldownShown,
        longer_wins: bool,
    ) -> Instant {
        let until = now + asked.length;
        let before = self.cooled_until;
        let running = now < before;
        if !running {
            self.cooled_since = now;
        }
        let moves = !running || (longer_wins && until > self.cooled_until);
        if moves {
            self.cooled_until = until;
        }
        if moves || !longer_wins {
            self.cooldown_shown = asked;
        }
        debug_assert!(
            !running || self.cooled_until == before || (longer_wins && before < self.cooled_until),
            "invariant 8: the end of a running cooldown moved"
        );
        self.cooled_until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_during_a_cooldown_changes_what_is_shown_but_not_the_end() {
        let at = Instant::from_secs_f64;
        let asked = |seconds| CooldownShown {
            length: Duration::from_secs(seconds),
            ..CooldownShown::default()
        };
        let mut state = DeploymentState::default();

        state.cool(at(0.0), asked(10), false);
        let until = state.cool(at(6.0), asked(30), false);

        assert_eq!(until, at(10.0));
        assert_eq!(state.cooldown_shown(), Duration::from_secs(30));
        assert_eq!(state.cooled_at(at(9.9)), Some(at(10.0)));
        assert_eq!(state.cooled_at(at(10.0)), None);
    }

    #[test]
    fn where_the_longer_wins_a_later_end_replaces_an_earlier_one_and_not_the_reverse() {
        let at = Instant::from_secs_f64;
        let asked = |seconds| CooldownShown {
            length: Duration::from_secs(seconds),
            ..CooldownShown::default()
        };
        let mut state = DeploymentState::default();

        state.cool(at(0.0), asked(10), true);
        assert_eq!(state.cool(at(6.0), asked(30), true), at(36.0));
        assert_eq!(state.cool(at(7.0), asked(1), true), at(36.0));
        assert_eq!(state.cooldown_shown(), Duration::from_secs(30));
    }
}
