//! The journal of a run: every input that its routers were given and what they decided, as JSON lines.
//! A run in virtual time and one over HTTP write the same format, and [`replay()`] feeds either
//! through fresh routers and compares.
//!
//! | line | says |
//! | --- | --- |
//! | `{"journal":1,"seed":…,"instances":…,"shared_state":…,"router":{…}}` | the head: what the routers were built of. A file may hold several runs, one after another |
//! | `{"names":[…]}` | model names that became known, in the order of their ids |
//! | `{"at":…,"arrive":{…},"then":{…}}` | a request arrives |
//! | `"attempt_finished":{"request":…,"outcome":{…}}` | in the place of `arrive`: an attempt ended |
//! | `"resume":…`, `"admitted":…`, `"first_token":…`, `"cancel":…` | a wait is over, a slot is free, a stream begins, a caller has left: the number of the request |
//! | `"clear":{"deployment":…}` | an operator ends a cooldown; all, without a deployment |
//!
//! `at` is in nanoseconds of the run, `router` is the instance where it is not the first. `then` is the
//! decision: `send`, `wait`, `park` or `done`, whom it `released`, which `mirrors` it began, or how many
//! cooldowns it `cleared`. Deployments are places in the `model_list`, from 0. No prompt, no answer, no
//! key and no address is written; callers, sessions and contents are hashes.
//!
//! | file | does |
//! | --- | --- |
//! | `write.rs` | hears routers and writes |
//! | `line.rs` | what stands in a line |
//! | `replay.rs` | feeds a journal through fresh routers |

mod line;
mod replay;
mod write;

pub use line::Head;
pub use replay::{Difference, JournalError, Replayed, replay};
pub use write::Journal;
