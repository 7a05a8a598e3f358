//! Routers and plans of known size, and the bare loop that they are held against.

pub mod floor;
