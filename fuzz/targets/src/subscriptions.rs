// SPDX-License-Identifier: MIT OR Apache-2.0
//! Subscriptions of the real-time event channel, and the events that pass them.

use std::time::Duration;

use orbium_event::rtec::rtec_event_channel_admin::Dependency;
use orbium_event::{
    Clearing, Filter, FilterErrorKind, FilterLimits, Pattern, SharedEvent, new_event,
};

/// Octets of an element: type, source, and milliseconds of a timer.
const ELEMENT: usize = 3;

/// Elements are a tree within the limits or are refused with the place of the mistake; what they are is written as elements of the same
/// tree. Whatever is offered, only what was offered is delivered.
pub fn subscriptions(input: &[u8]) {
    let Some((count, input)) = input.split_first() else {
        return;
    };
    let (elements, events) = input.split_at(input.len().min(usize::from(*count) * ELEMENT));
    let elements: Vec<_> = elements.chunks_exact(ELEMENT).map(element).collect();
    let limits = FilterLimits::default();
    let pattern = match Pattern::from_dependencies(&elements, &limits) {
        Ok(pattern) => pattern,
        Err(error) => {
            assert!(error.element <= elements.len(), "{error}");
            return;
        }
    };
    let written = pattern.to_qos().dependencies;
    match Pattern::from_dependencies(&written, &limits) {
        Ok(again) => assert_eq!(again, pattern),
        // Groups without counts may be one more group, of alternatives.
        Err(error) => assert!(
            matches!(
                error.kind,
                FilterErrorKind::TooDeep | FilterErrorKind::TooLong
            ),
            "{error}"
        ),
    }
    for clearing in [Clearing::Whole, Clearing::Branch] {
        deliver(Filter::new(&pattern).with_clearing(clearing), events);
    }
}

fn element(octets: &[u8]) -> Dependency {
    let [r#type, source, period] = [octets[0], octets[1], octets[2]];
    let mut element = Dependency {
        event: new_event(i32::from(r#type), i32::from(source.cast_signed())),
        ..Dependency::default()
    };
    let period = Duration::from_millis(period.into()).as_nanos() / 100;
    element.event.header.creation_time = u64::try_from(period).unwrap_or_default();
    element
}

/// Offers events one by one and in pairs, or as those of a timer.
fn deliver(mut filter: Filter, events: &[u8]) {
    let (timers, mut delivered, mut offered) = (filter.timers().len(), Vec::new(), Vec::new());
    for octets in events.chunks_exact(3) {
        let [r#type, source, how] = [octets[0], octets[1], octets[2]];
        let event = |source: u8| -> SharedEvent {
            new_event(i32::from(r#type), i32::from(source.cast_signed())).into()
        };
        let mut set = vec![event(source)];
        if how & 1 != 0 {
            set.push(event(source.wrapping_add(1)));
        }
        let timer = (how & 2 != 0 && timers > 0).then(|| usize::from(how) % timers);
        offered.extend_from_slice(&set);
        let passes = filter.offer(&set, timer, &mut delivered);
        assert_eq!(passes, !delivered.is_empty());
        for event in delivered.drain(..) {
            assert!(offered.iter().any(|it| it.is(&event)));
        }
    }
}
