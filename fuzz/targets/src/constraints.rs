// SPDX-License-Identifier: MIT OR Apache-2.0
//! Constraints of the Notification Service's filters.

use orbium::Any;
use orbium_notification::{Constraint, ConstraintLimits, Subject, property, structured_event};

/// Texts that are longer are cut: what a constraint costs is bounded by its length.
const MAX_TEXT: usize = 1 << 16;

/// Any text is parsed or refused; what is parsed is evaluated, twice alike, for events of every
/// form, within the limits.
pub fn constraints(input: &[u8]) {
    let text = String::from_utf8_lossy(&input[..input.len().min(MAX_TEXT)]);
    let constraint = match Constraint::parse(&text, &ConstraintLimits::default()) {
        Ok(constraint) => constraint,
        Err(error) => {
            assert!(error.position <= text.len(), "{error}");
            return;
        }
    };
    let mut event = structured_event("Telecom", "Alarm", "link 7");
    event.header.variable_header = vec![property("Priority", 3i16)];
    let list = Any::new(&vec![1i32, 2, 3]).expect("a list fits an any");
    event.filterable_data = vec![
        property("severity", 5i16),
        property("text", "down"),
        property("ratio", 2.5f64),
        property("list", list),
        property("ok", true),
    ];
    event.remainder_of_body = Any::from("body");
    let any = Any::new(&event).expect("an event fits an any");
    for subject in [
        Subject::Structured(&event),
        Subject::Any(&any),
        Subject::Properties(&event.filterable_data),
    ] {
        assert_eq!(constraint.evaluate(subject), constraint.evaluate(subject));
    }
    let limits = ConstraintLimits {
        nodes: 1,
        ..ConstraintLimits::default()
    };
    // Whatever one node suffices for is the same constraint.
    if let Ok(small) = Constraint::parse(&text, &limits) {
        assert_eq!(small, constraint);
    }
}
