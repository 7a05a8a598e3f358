//! What the scenario's operator does while a run goes on.

use router::{Observer, Router};
use scenarios::{Action, Deed};

/// Does what the action says.
pub(crate) fn act(router: &mut Router, action: &Action, observer: &mut impl Observer) {
    match action.deed {
        Deed::ClearCooldowns(None) => {
            router.clear_cooldowns(action.at, observer);
        }
        Deed::ClearCooldowns(Some(deployment)) => {
            router.clear_cooldown(action.at, deployment, observer);
        }
    }
}
