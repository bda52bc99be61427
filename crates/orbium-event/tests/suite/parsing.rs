// SPDX-License-Identifier: MIT OR Apache-2.0
//! Subscriptions as they come from consumers.

use std::time::Duration;

use orbium_event::rtec::rtec_event_channel_admin::Dependency;
use orbium_event::{FilterErrorKind, FilterLimits, Pattern};

fn element(r#type: i32, source: i32) -> Dependency {
    let mut dependency = Dependency::default();
    dependency.event.header.r#type = r#type;
    dependency.event.header.source = source;
    dependency
}

fn parse(elements: &[(i32, i32)]) -> Result<Pattern, (usize, FilterErrorKind)> {
    let elements: Vec<_> = elements.iter().map(|it| element(it.0, it.1)).collect();
    Pattern::from_dependencies(&elements, &FilterLimits::default())
        .map_err(|error| (error.element, error.kind))
}

fn leaf(r#type: i32) -> Pattern {
    Pattern::of(r#type, 0)
}

#[test]
fn written_text_is_read_again() {
    let ms = Duration::from_millis(1);
    let pattern = Pattern::Disjunction(vec![
        Pattern::Conjunction(vec![
            leaf(16),
            Pattern::Negation(Box::new(Pattern::Disjunction(vec![leaf(17), leaf(18)]))),
        ]),
        Pattern::LogicalAnd(vec![
            Pattern::Bitmask {
                source_mask: 1,
                type_mask: 9,
                child: Box::new(Pattern::Null),
            },
            Pattern::MaskedType {
                source_mask: 1,
                type_mask: 2,
                source_value: 1,
                type_value: 8,
            },
        ]),
        Pattern::Timeout(5 * ms),
        Pattern::Interval(6 * ms),
        Pattern::Deadline(7 * ms),
    ]);
    let qos = pattern.to_qos();
    let read = Pattern::from_dependencies(&qos.dependencies, &FilterLimits::default());
    assert_eq!(read, Ok(pattern));
}

/// Conformance: events - groups without counts end before the next group - parsing
#[test]
fn groups_without_counts_are_alternatives() {
    let conjunction = |a, b| Pattern::Conjunction(vec![leaf(a), leaf(b)]);
    assert_eq!(parse(&[(8, 0), (16, 0), (17, 0)]), Ok(conjunction(16, 17)));
    let groups = [(8, 0), (16, 0), (17, 0), (8, 0), (18, 0), (19, 0)];
    let both = Pattern::Disjunction(vec![conjunction(16, 17), conjunction(18, 19)]);
    assert_eq!(parse(&groups), Ok(both.clone()));
    // The global designator.
    let global: Vec<_> = [(7, 0)].into_iter().chain(groups).collect();
    assert_eq!(parse(&global), Ok(both));
    let alternatives = Pattern::Disjunction(vec![leaf(16), leaf(17)]);
    assert_eq!(parse(&[(16, 0), (17, 0)]), Ok(alternatives));
}

#[test]
fn a_malformed_subscription_is_refused_with_its_element() {
    use FilterErrorKind::{Empty, NoChild, PeriodTooShort, Truncated};
    assert_eq!(parse(&[]), Err((0, Empty)));
    assert_eq!(parse(&[(8, 0)]), Err((0, NoChild)));
    assert_eq!(parse(&[(7, 0)]), Err((0, NoChild)));
    assert_eq!(parse(&[(9, 0), (16, 0), (10, 0)]), Err((2, NoChild)));
    assert_eq!(parse(&[(12, 0)]), Err((0, Truncated)));
    assert_eq!(parse(&[(12, 0), (1, 1)]), Err((0, NoChild)));
    assert_eq!(parse(&[(13, 0), (1, 1)]), Err((0, Truncated)));
    assert_eq!(parse(&[(16, 0), (5, 0)]), Err((1, PeriodTooShort)));
}

#[test]
fn counts_that_lie_never_read_beyond_the_elements() {
    let lying = parse(&[(8, i32::MAX), (16, 0)]);
    assert_eq!(lying, Ok(Pattern::Conjunction(vec![leaf(16)])));
    let negative = parse(&[(9, -1), (16, 0)]);
    assert_eq!(negative, Ok(Pattern::Disjunction(vec![leaf(16)])));
}

/// Regression: each timer of a subscription of any number occupied the thread of the channel.
#[test]
fn subscriptions_of_many_timers_are_refused() {
    let interval = Pattern::Interval(Duration::from_millis(1));
    let intervals = |timers| {
        let qos = Pattern::Disjunction(vec![interval.clone(); timers]).to_qos();
        let read = Pattern::from_dependencies(&qos.dependencies, &FilterLimits::default());
        read.map_err(|error| (error.element, error.kind))
    };
    assert!(intervals(16).is_ok());
    let refused = Err((17, FilterErrorKind::TooManyTimers));
    assert_eq!(intervals(17), refused);
    assert_eq!(intervals(1023), refused);
}

/// Conformance: events - filters of 10,000 elements are refused - parsing
#[test]
fn long_and_deep_subscriptions_are_refused() {
    let flat = vec![(16, 0); 10_000];
    assert_eq!(parse(&flat), Err((1024, FilterErrorKind::TooLong)));
    let mut deep = vec![(10, 0); 1000];
    deep.push((16, 0));
    assert_eq!(parse(&deep), Err((65, FilterErrorKind::TooDeep)));
    let nested: Vec<_> = [(8, 1); 1000].into_iter().chain([(16, 0)]).collect();
    assert_eq!(parse(&nested), Err((65, FilterErrorKind::TooDeep)));
    let unbounded = FilterLimits {
        elements: 20_000,
        ..FilterLimits::default()
    };
    let elements: Vec<_> = flat.iter().map(|it| element(it.0, it.1)).collect();
    assert!(Pattern::from_dependencies(&elements, &unbounded).is_ok());
}
