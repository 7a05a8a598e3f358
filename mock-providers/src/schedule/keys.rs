//! What the random spans of a schedule are keyed by: the deployment alone, or its fleet.

use router::{Purpose, Seed};

/// Whose schedules these are: one deployment's, in a fleet or not.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    pub(crate) seed: Seed,
    /// Which provider of the plan.
    pub(crate) provider: u64,
    /// The name of its fleet, as a number.
    pub(crate) fleet: Option<u32>,
}

impl Origin {
    /// What the random spans of schedule number `ordinal` for `purpose` are keyed by.
    pub(crate) const fn keys(self, purpose: Purpose, ordinal: u32) -> Keys {
        Keys {
            seed: self.seed,
            purpose,
            number: self.provider << 32 | ordinal as u64,
            fleet: self.fleet,
        }
    }
}

/// What the random spans of a schedule are keyed by, besides their own number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keys {
    pub(crate) seed: Seed,
    pub(crate) purpose: Purpose,
    /// Which provider of the plan, and which of its faults of this kind.
    pub(crate) number: u64,
    pub(crate) fleet: Option<u32>,
}

impl Keys {
    /// The same for every deployment of the fleet.
    pub(crate) fn of_fleet(self) -> Option<Self> {
        let fleet = u64::from(self.fleet?) | 1 << 31;
        let ordinal = self.number & u64::from(u32::MAX);
        Some(Self {
            number: fleet << 32 | ordinal,
            ..self
        })
    }
}

/// A name as a number (FNV-1a, 31 bits).
pub(crate) fn number_of(name: &str) -> u32 {
    let hash = name.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    hash >> 1
}
