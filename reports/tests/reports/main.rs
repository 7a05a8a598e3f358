//! Records, tables, plots and the page, from made-up runs to finished files.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::float_cmp,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    unreachable_pub,
    reason = "tests compare small numbers, and a log ignores the events it does not keep"
)]

#[cfg(feature = "render")]
mod along;
#[cfg(feature = "render")]
mod files;
#[cfg(feature = "render")]
mod page;
mod recorder;
mod recount;
mod stand_in;
mod sweeps;
mod text;
