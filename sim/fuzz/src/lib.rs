//! What every target shares: a limit on its memory. What holds is asserted in the crates themselves
//! (`fuzzed.rs` of each), where tests play the corpus too.

use std::alloc::System;

use cap::Cap;

/// An input of a few kilobytes that takes more than this is a fault: the allocation fails, and so the target.
#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, 1 << 30);
