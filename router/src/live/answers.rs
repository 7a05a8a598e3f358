//! The texts of answers that the core's response cache knows of. The core decides what is a hit and
//! for how long; here is what was said.

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;

use crate::request::{ContentId, ModelId};

/// Whose answer it is: names that share entries, what was asked, whether it streams.
pub(super) type Key = (Scope, ContentId, bool);

/// Names that share entries, as the core has them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Scope {
    Name(ModelId),
    /// One of `caching_groups`.
    Group(usize),
}

/// Answers, the newest of each key.
#[derive(Debug, Default)]
pub(super) struct Answers {
    kept: BTreeMap<Key, Bytes>,
    by_age: VecDeque<Key>,
}

impl Answers {
    pub(super) fn get(&self, key: &Key) -> Option<Bytes> {
        self.kept.get(key).cloned()
    }

    pub(super) fn keep(&mut self, key: Key, answer: Bytes) {
        if self.kept.insert(key, answer).is_some() {
            self.by_age.retain(|old| *old != key);
        }
        self.by_age.push_back(key);
        if self.by_age.len() > CAPACITY
            && let Some(oldest) = self.by_age.pop_front()
        {
            self.kept.remove(&oldest);
        }
    }
}

/// Twice what the core knows of, so that nothing is gone that it still counts on.
const CAPACITY: usize = 400;

#[cfg(test)]
mod tests {
    use std::num::NonZeroU64;

    use super::*;

    fn key(content: u64) -> Key {
        let content = ContentId(NonZeroU64::new(content + 1).unwrap());
        (Scope::Name(ModelId(0)), content, false)
    }

    #[test]
    fn the_oldest_answers_make_room() {
        let mut answers = Answers::default();
        let capacity = CAPACITY as u64;
        for content in 0..capacity {
            answers.keep(key(content), Bytes::new());
        }
        answers.keep(key(0), Bytes::from("again"));
        answers.keep(key(capacity), Bytes::new());

        assert_eq!(answers.get(&key(0)), Some(Bytes::from("again")));
        assert_eq!(answers.get(&key(1)), None);
        assert_eq!(answers.kept.len(), CAPACITY);
    }
}
