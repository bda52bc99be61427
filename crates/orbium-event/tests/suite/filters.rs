// SPDX-License-Identifier: MIT OR Apache-2.0
//! Deliveries of each filter pattern over a sequence of events.

use std::sync::Arc;
use std::time::Duration;

use orbium_event::{Clearing, Filter, Pattern, SharedEvent, TIMEOUT, TimerKind, new_event};

const A: i32 = 16;
const B: i32 = 17;
const C: i32 = 18;
const D: i32 = 19;

fn leaf(r#type: i32) -> Pattern {
    Pattern::of(r#type, 0)
}

fn all(children: impl IntoIterator<Item = Pattern>) -> Pattern {
    Pattern::Conjunction(children.into_iter().collect())
}

fn any(children: impl IntoIterator<Item = Pattern>) -> Pattern {
    Pattern::Disjunction(children.into_iter().collect())
}

fn not(child: Pattern) -> Pattern {
    Pattern::Negation(Box::new(child))
}

fn event(r#type: i32, source: i32) -> SharedEvent {
    new_event(r#type, source).into()
}

/// A filter and the deliveries so far, each with type and source of its events.
struct Tested {
    filter: Filter,
    deliveries: Vec<Vec<(i32, i32)>>,
}

impl Tested {
    fn new(pattern: &Pattern) -> Self {
        Self {
            filter: Filter::new(pattern),
            deliveries: Vec::new(),
        }
    }

    fn offer(&mut self, events: &[SharedEvent], timer: Option<usize>) {
        let mut delivered = Vec::new();
        if self.filter.offer(events, timer, &mut delivered) {
            let headers = delivered.iter().map(|it| &it.header);
            let delivery = headers.map(|it| (it.r#type, it.source)).collect();
            self.deliveries.push(delivery);
        }
    }

    /// The types that are delivered of single events of these types and sources.
    fn deliver(pattern: &Pattern, events: &[(i32, i32)]) -> Vec<Vec<(i32, i32)>> {
        let mut tested = Self::new(pattern);
        for (r#type, source) in events {
            tested.offer(&[event(*r#type, *source)], None);
        }
        tested.deliveries
    }
}

/// The types that are delivered of single events from source 1.
fn types(pattern: &Pattern, events: &[i32]) -> Vec<Vec<i32>> {
    let events: Vec<_> = events.iter().map(|it| (*it, 1)).collect();
    let deliveries = Tested::deliver(pattern, &events).into_iter();
    let types = |delivery: Vec<(i32, i32)>| delivery.iter().map(|it| it.0).collect();
    deliveries.map(types).collect()
}

/// Conformance: events - type and source, 0 on either side matches - filters
#[test]
fn a_leaf_matches_type_and_source_and_zero_matches_all() {
    let events = [(A, 1), (A, 2), (B, 1), (0, 1), (A, 0)];
    let delivered = Tested::deliver(&Pattern::of(A, 1), &events);
    assert_eq!(delivered, [[(A, 1)], [(0, 1)], [(A, 0)]]);
    assert_eq!(Tested::deliver(&Pattern::of(0, 0), &events).len(), 5);
    assert_eq!(
        Tested::deliver(&Pattern::of(0, 2), &events),
        [[(A, 2)], [(A, 0)]]
    );
}

#[test]
fn a_leaf_passes_the_matching_part_of_a_set() {
    let mut tested = Tested::new(&leaf(A));
    tested.offer(&[event(A, 1), event(B, 1), event(A, 2)], None);
    assert_eq!(tested.deliveries, [[(A, 1), (A, 2)]]);
}

/// Conformance: events - conjunction: one event of each, the first ones, in order of arrival - filters
#[test]
fn a_conjunction_delivers_the_first_event_of_each_child() {
    let pair = all([leaf(A), leaf(B)]);
    assert_eq!(types(&pair, &[A, A, B]), [[A, B]]);
    assert_eq!(types(&pair, &[B, A, B]), [[B, A]]);
    assert_eq!(types(&pair, &[B, A, B, A]), [[B, A], [B, A]]);
    // The first leaf takes every event.
    assert!(types(&all([leaf(A), leaf(A)]), &[A, A, A]).is_empty());
    let three = all([leaf(A), leaf(B), leaf(C)]);
    assert_eq!(types(&three, &[A, A, A, A, B, C]), [[A, B, C]]);
}

#[test]
fn a_conjunction_joins_two_sources() {
    let pattern = all([Pattern::of(A, 1), Pattern::of(A, 2)]);
    let delivered = Tested::deliver(&pattern, &[(A, 1), (A, 1), (A, 2)]);
    assert_eq!(delivered, [[(A, 1), (A, 2)]]);
}

#[test]
fn conjunctions_nest() {
    let pattern = all([all([leaf(A), leaf(B)]), leaf(C)]);
    assert_eq!(types(&pattern, &[A, C, C, B, A]), [[C, A, B]]);
}

/// Conformance: events - disjunction: the first child that matches - filters
#[test]
fn a_disjunction_delivers_once() {
    assert_eq!(types(&any([leaf(A), leaf(B)]), &[A, B, C]), [[A], [B]]);
    assert_eq!(types(&any([leaf(A), leaf(A)]), &[A]), [[A]]);
}

/// Conformance: events - a delivery clears the whole tree - filters
#[test]
fn a_delivery_of_one_branch_clears_the_others() {
    let pattern = any([all([leaf(A), leaf(B)]), leaf(C)]);
    assert_eq!(types(&pattern, &[A, C, B, A]), [vec![C], vec![B, A]]);
}

/// Conformance: events - a delivery clears its branch alone, on request - filters
#[test]
fn a_delivery_of_one_branch_leaves_the_others_if_the_channel_says_so() {
    let pair = all([leaf(A), leaf(B)]);
    let pattern = any([pair.clone(), any([leaf(C), all([leaf(D), leaf(B)])])]);
    let mut tested = Tested::new(&pattern);
    tested.filter = tested.filter.with_clearing(Clearing::Branch);
    // What another alternative delivers clears neither of the pairs; the first one takes each B.
    for r#type in [A, C, D, B, B, A, C, B] {
        tested.offer(&[event(r#type, 1)], None);
    }
    let types = |types: &[i32]| types.iter().map(|it| (*it, 1)).collect::<Vec<_>>();
    let expected = [types(&[C]), types(&[A, B]), types(&[B, A]), types(&[C])];
    assert_eq!(tested.deliveries, expected);
}

/// Conformance: events - negation - filters
#[test]
fn a_negation_passes_what_its_child_ignores() {
    assert_eq!(types(&not(leaf(A)), &[A, B]), [[B]]);
    assert_eq!(types(&all([leaf(A), not(leaf(A))]), &[A, B]), [[A, B]]);
    let neither = not(any([leaf(A), leaf(B)]));
    assert_eq!(types(&neither, &[A, C, B]), [[C]]);
}

/// Conformance: events - masks, masked types, null, logical and - filters
#[test]
fn masks_select_bits_of_type_and_source() {
    let mask = |source_mask, type_mask| Pattern::Bitmask {
        source_mask,
        type_mask,
        child: Box::new(Pattern::Null),
    };
    let and = Pattern::LogicalAnd(vec![mask(0xFF, 0xF00), not(leaf(0x101))]);
    assert_eq!(
        Tested::deliver(&and, &[(0x101, 3), (0x201, 3), (0x201, 0)]),
        [[(0x201, 3)]]
    );
    assert_eq!(
        types(&mask(!0, 0x30), &[0x10, 0x20, 0x40]),
        [[0x10], [0x20]]
    );
    let masked = Pattern::MaskedType {
        source_mask: 0,
        type_mask: 0xF0,
        source_value: 0,
        type_value: 0x20,
    };
    assert_eq!(types(&masked, &[0x21, 0x2F, 0x31]), [[0x21], [0x2F]]);
    assert_eq!(types(&Pattern::Null, &[A, 0]), [[A], [0]]);
    // Masks are for single events.
    let mut tested = Tested::new(&masked);
    tested.offer(&[event(0x21, 1), event(0x22, 1)], None);
    assert!(tested.deliveries.is_empty());
}

/// Regression: the events that every child passes were in memory together.
#[test]
fn a_logical_and_holds_the_events_of_one_child_at_a_time() {
    let mut filter = Filter::new(&Pattern::LogicalAnd(vec![Pattern::Null; 1000]));
    let (events, mut delivered) = (vec![event(A, 1); 1000], Vec::new());
    assert!(filter.offer(&events, None, &mut delivered));
    assert!(delivered.len() == 1000 && delivered.capacity() < 10_000);
}

/// Regression: conjunctions collected any number of bytes.
#[test]
fn conjunctions_discard_what_they_have_collected_beyond_their_bytes() {
    let probe = Arc::new(());
    let large =
        |r#type| SharedEvent::with_content(new_event(r#type, 1), Arc::clone(&probe), 1 << 20);
    let pattern = any([all((B..B + 64).map(leaf)), leaf(A)]);
    for clearing in [Clearing::Whole, Clearing::Branch] {
        let filter = Filter::new(&pattern);
        let mut filter = filter.with_clearing(clearing).with_bytes(4 << 20);
        let (mut delivered, mut discarded) = (Vec::new(), 0);
        for r#type in B..B + 63 {
            assert!(!filter.offer(&[large(r#type)], None, &mut delivered));
            assert!(Arc::strong_count(&probe) - 1 <= 4);
            discarded += filter.take_discarded();
        }
        let collected = Arc::strong_count(&probe) - 1;
        assert_eq!(discarded, 63 - collected as u64);
    }
    // An event that a nested conjunction has passed on is one event.
    let mut filter = Filter::new(&all([all([leaf(A), leaf(B)]), leaf(C)])).with_bytes(3 << 20);
    for r#type in [A, B] {
        assert!(!filter.offer(&[large(r#type)], None, &mut Vec::new()));
    }
    assert_eq!(filter.take_discarded(), 2);
    // A delivery frees what it clears.
    let mut filter = Filter::new(&all([leaf(A), leaf(B)])).with_bytes(3 << 20);
    let mut delivered = Vec::new();
    for _ in 0..3 {
        assert!(!filter.offer(&[large(A)], None, &mut delivered));
        assert!(filter.offer(&[large(B)], None, &mut delivered));
    }
    assert_eq!((delivered.len(), filter.take_discarded()), (6, 0));
}

/// Conformance: events - timers: their events pass their own filter, and filters of everything - filters
#[test]
fn the_event_of_a_timer_is_for_its_own_filter() {
    let ms = Duration::from_millis(1);
    let pattern = all([leaf(A), Pattern::Interval(50 * ms)]);
    let mut tested = Tested::new(&pattern);
    assert_eq!(tested.filter.timers()[0].kind, TimerKind::Interval);
    assert_eq!(tested.filter.timers()[0].period, 50 * ms);
    tested.offer(&[event(A, 1)], None);
    tested.offer(&[event(A, 2)], None);
    // Another timer's, and a supplier's event of that type.
    tested.offer(&[event(5, 0)], Some(1));
    tested.offer(&[event(5, 0)], None);
    assert!(tested.deliveries.is_empty());
    tested.offer(&[event(5, 0)], Some(0));
    assert_eq!(tested.deliveries, [[(A, 1), (5, 0)]]);

    let mut everything = Tested::new(&any([leaf(0), Pattern::Timeout(ms)]));
    everything.offer(&[event(TIMEOUT, 0)], Some(0));
    assert_eq!(everything.deliveries, [[(TIMEOUT, 0)]]);
}
