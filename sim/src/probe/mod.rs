//! Does a service come back by itself? A push, and what follows: the time until it serves as before, and
//! whether it ever does ([`recovery()`]); and a load that rises and falls in steps, to see whether it
//! breaks and recovers at the same load ([`turns`]).
//!
//! What is read is the share of requests that are answered well by the moment at which they *arrive*
//! ([`Served`]): a request that waits out the trouble belongs to the moment at which it came.

mod ramp;
mod recovery;
mod served;

pub use ramp::{Turns, turns};
pub use recovery::{Recovery, recovery};
pub use served::{Served, record_served};
