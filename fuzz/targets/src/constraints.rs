// SPDX-License-Identifier: MIT OR Apache-2.0
//! Constraints of the Notification Service's filters.

use orbium::Any;
use orbium::cdr::{Encode, Typed};
use orbium_notification::idl::cos_notification::StructuredEvent;
use orbium_notification::{Constraint, ConstraintLimits, Subject, property, structured_event};

use crate::types::signals::{Colour, Either, Position};

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
    let event = event();
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

/// An event with a value of each kind of type.
fn event() -> StructuredEvent {
    let mut event = structured_event("Telecom", "Alarm", "link 7");
    event.header.variable_header = vec![property("Priority", 3i16)];
    event.filterable_data = vec![
        property("severity", 5i16),
        property("text", "down"),
        property("ratio", 2.5f64),
        property("list", any(&vec![1i32, 2, 3])),
        property("ok", true),
        property("col", any(&Colour::Green)),
        property("pos", any(&Position { x: 4, y: -2 })),
        property("u", any(&default_branch())),
        property("tags", any(&vec!["core".to_owned(), "eu".to_owned()])),
        property("raw", any(&vec![0u8, 255])),
        property("matrix", any(&[[1i32, 2], [3, 4]])),
        property("in", 9u64),
        property("nested", any(&Any::from(2.5f32))),
        property("no", any(&Either::S(3))),
    ];
    event.remainder_of_body = any(&Position { x: 77, y: 0 });
    event
}

fn default_branch() -> Either {
    Either::T {
        discriminator: 7,
        value: "hi".to_owned(),
    }
}

fn any(value: &(impl Typed + Encode)) -> Any {
    Any::new(value).expect("the value fits an any")
}
