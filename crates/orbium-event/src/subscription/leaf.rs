// SPDX-License-Identifier: MIT OR Apache-2.0
//! The type and source of a subscription to one kind of events, which are compared without the lock of its consumer.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::event::{ANY, SharedEvent};
use crate::subscription::filter::matches;
use crate::subscription::pattern::Pattern;

/// Type and source of a leaf; `ANY` for both of all other patterns.
#[derive(Debug)]
pub(crate) struct AtomicLeaf(AtomicU64);

impl AtomicLeaf {
    pub(crate) fn of(pattern: &Pattern) -> Self {
        Self(AtomicU64::new(packed(pattern)))
    }

    pub(crate) fn set(&self, pattern: &Pattern) {
        self.0.store(packed(pattern), Ordering::Release);
    }

    /// Whether one of the events may pass the filter of the pattern.
    pub(crate) fn may_pass(&self, events: &[SharedEvent]) -> bool {
        let packed = self.0.load(Ordering::Acquire);
        if packed == 0 {
            return true;
        }
        let [r#type, source] = [packed >> 32, packed].map(|it| (it as u32).cast_signed());
        let mut headers = events.iter().map(|it| &it.header);
        headers.any(|it| matches(r#type, it.r#type) && matches(source, it.source))
    }
}

fn packed(pattern: &Pattern) -> u64 {
    let (r#type, source) = match *pattern {
        Pattern::Leaf { r#type, source } => (r#type, source),
        _ => (ANY, ANY),
    };
    let [r#type, source] = [r#type, source].map(|it| u64::from(it.cast_unsigned()));
    r#type << 32 | source
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::new_event;

    #[test]
    fn only_leaves_exclude_events() {
        let events = |headers: &[(i32, i32)]| -> Vec<SharedEvent> {
            let headers = headers.iter();
            headers.map(|it| new_event(it.0, it.1).into()).collect()
        };
        let leaf = AtomicLeaf::of(&Pattern::of(-16, i32::MIN));
        assert!(leaf.may_pass(&events(&[(1, 1), (-16, i32::MIN)])));
        assert!(leaf.may_pass(&events(&[(0, 0)])));
        assert!(!leaf.may_pass(&events(&[(-16, 1), (1, i32::MIN)])));
        assert!(!leaf.may_pass(&[]));
        leaf.set(&Pattern::of(0, 7));
        assert!(leaf.may_pass(&events(&[(16, 7)])) && !leaf.may_pass(&events(&[(16, 8)])));
        for pattern in [
            Pattern::Null,
            Pattern::Negation(Box::new(Pattern::of(16, 1))),
        ] {
            leaf.set(&pattern);
            assert!(leaf.may_pass(&events(&[(17, 2)])));
        }
    }
}
