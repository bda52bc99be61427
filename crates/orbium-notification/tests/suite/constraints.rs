// SPDX-License-Identifier: MIT OR Apache-2.0
//! Evaluation of constraints.

use orbium::cdr::{CdrWriter, Encode};
use orbium::{Any, TypeCode};
use orbium_notification::idl::cos_notification::StructuredEvent;
use orbium_notification::{
    Constraint, ConstraintError, ConstraintErrorKind, ConstraintLimits, Subject, property,
    structured_event,
};
use orbium_testkit::within;

/// A union with the discriminator 7 and a string as its default branch.
struct DefaultBranch;

impl Encode for DefaultBranch {
    fn encode<'a>(&'a self, writer: &mut CdrWriter<'a>) {
        7i32.encode(writer);
        "hi".encode(writer);
    }
}

fn code(any: &Any) -> TypeCode {
    any.type_code().clone()
}

fn long() -> TypeCode {
    code(&Any::from(0i32))
}

fn string() -> TypeCode {
    code(&Any::from("x"))
}

fn position() -> Any {
    let code = TypeCode::structure(
        "IDL:Position:1.0",
        "Position",
        [("x", long()), ("y", long())],
    );
    Any::with_type(code, &[4i32, -2]).unwrap()
}

fn union() -> Any {
    let branches = [
        (Some(1), "s", code(&Any::from(0i16))),
        (None, "t", string()),
    ];
    let code = TypeCode::union("IDL:Either:1.0", "Either", long(), branches).unwrap();
    Any::with_type(code, &DefaultBranch).unwrap()
}

fn event() -> StructuredEvent {
    let colour = TypeCode::enumeration("IDL:Colour:1.0", "Colour", ["red", "green"]);
    let body = TypeCode::structure("IDL:Body:1.0", "Body", [("id", long())]);
    let mut event = structured_event("Telecom", "Alarm", "lost");
    event.header.variable_header = vec![property("Priority", 3i16)];
    event.filterable_data = vec![
        property("sev", 5i16),
        property("msg", "link down"),
        property("load", 2.5f64),
        property(
            "tags",
            Any::new(&vec!["core".to_owned(), "eu".to_owned()]).unwrap(),
        ),
        property("ok", true),
        property("col", Any::with_type(colour, &1u32).unwrap()),
        property("pos", position()),
        property("u", union()),
        property("raw", Any::new(&Vec::<u8>::new()).unwrap()),
        property("in", 9i32),
    ];
    event.remainder_of_body = Any::with_type(body, &77i32).unwrap();
    event
}

fn evaluated(text: &str, event: &StructuredEvent) -> Option<bool> {
    let constraint: Constraint = text.parse().unwrap();
    constraint.evaluate(Subject::Structured(event))
}

const TRUE: Option<bool> = Some(true);
const FALSE: Option<bool> = Some(false);
const FAIL: Option<bool> = None;

/// Conformance: notification - the extended constraint language: thirty-two expressions - an event with every type
#[test]
fn thirty_two_expressions_evaluate_as_the_rules_have_it() {
    let table = [
        ("$type_name == 'Alarm' and $sev > 3", TRUE),
        (
            "$.header.fixed_header.event_type.domain_name == 'telecom'",
            FALSE,
        ),
        ("$sev >= 5.0", TRUE),
        ("$load == 2", FALSE),
        ("$sev / 2 == 2", TRUE),
        ("$sev / 2.0 == 2.5", TRUE),
        ("$sev / 0 == 0", FAIL),
        ("TRUE or $nope == 1", TRUE),
        ("$nope == 1 or TRUE", FAIL),
        ("not ($nope == 1)", FAIL),
        ("not exist $nope", TRUE),
        ("exist $nope and $nope > 1", FALSE),
        ("exist $.filterable_data(sev)", TRUE),
        (
            "$.filterable_data(sev) + $.header.variable_header(Priority) == 8",
            TRUE,
        ),
        ("'down' ~ $msg", TRUE),
        ("$msg ~ 'down'", FALSE),
        ("'' ~ $msg", TRUE),
        ("'eu' in $tags", TRUE),
        ("'e' in $tags", FALSE),
        ("'eu' in $msg", FAIL),
        ("$tags[1] == 'eu' and $tags._length == 2", TRUE),
        ("$tags[2] == 'x' or TRUE", FAIL),
        ("$raw._length == 0", TRUE),
        ("$col == green", TRUE),
        ("$pos.x + $pos.y == 2 and $pos.0 == 4", TRUE),
        ("$.remainder_of_body.id == 77", TRUE),
        ("$u._d == 7 and $u.() == 'hi'", TRUE),
        ("$u.(1) == 3", FAIL),
        ("$sev == '5'", FAIL),
        (
            "$ok and $\\in == 9 and not ($sev < 3 or $msg == 'it\\'s')",
            TRUE,
        ),
        ("$sev", FAIL),
        ("-$sev + 6 == 1", TRUE),
    ];
    let event = event();
    for (number, (text, expected)) in table.iter().enumerate() {
        assert_eq!(evaluated(text, &event), *expected, "{}: {text}", number + 1);
    }
}

#[test]
fn further_rules_hold() {
    let table = [
        ("", TRUE),
        ("sev == 5", TRUE),
        ("exist sev and not exist nope", TRUE),
        ("col == red", FALSE),
        ("$col == 1 and $col < 2", TRUE),
        ("$col == blue", FAIL),
        ("$ok == TRUE and $ok != false", TRUE),
        ("$ok < TRUE", FAIL),
        ("default $u", TRUE),
        ("exist $u.(1)", FALSE),
        ("exist $.x.y", FALSE),
        (
            "$pos._type_id == 'Position' and $pos._repos_id == 'IDL:Position:1.0'",
            TRUE,
        ),
        ("$.0.0.0.1 == 'Alarm'", TRUE),
        ("$.header.variable_header[0].name == 'Priority'", TRUE),
        ("$id == 77", TRUE),
        ("$curtime.time > 100000", TRUE),
        ("18446744073709551615 + 1 > 0", FAIL),
        ("-9223372036854775808 < 0", TRUE),
        ("2 + 3 * 4 - 1 == 13", TRUE),
        ("not TRUE == FALSE", TRUE),
        (".5 + 1e0 == 1.5", TRUE),
        ("$msg._length == 9", TRUE),
        ("5 in $tags", FAIL),
        ("5 in $raw", FALSE),
        ("'a' < 'b' and 'B' < 'a'", TRUE),
        ("+$sev == 5", TRUE),
        ("+'a' == 'a'", FAIL),
        ("FALSE and $nope", FALSE),
        ("(((TRUE)))", TRUE),
    ];
    let event = event();
    for (text, expected) in table {
        assert_eq!(evaluated(text, &event), expected, "{text}");
    }
}

#[test]
fn anys_and_lists_of_properties_are_evaluated_as_they_are() {
    let any = position();
    let of =
        |text: &str, subject: Subject<'_>| text.parse::<Constraint>().unwrap().evaluate(subject);
    assert_eq!(
        of(
            "$.x == 4 and $y == -2 and $type_name == '%ANY'",
            Subject::Any(&any)
        ),
        TRUE
    );
    assert_eq!(of("$ > 3", Subject::Any(&Any::from(4i32))), TRUE);
    let nested = Any::new(&any).unwrap();
    assert_eq!(
        of(
            "$.x == 4 and exist $.y and not exist $.z",
            Subject::Any(&nested)
        ),
        TRUE
    );
    let list = [property("a", 1i32), property("b", "two")];
    assert_eq!(
        of(
            "$a == 1 and b == 'two' and not exist $c",
            Subject::Properties(&list)
        ),
        TRUE
    );
    let whole = Any::new(&event()).unwrap();
    assert_eq!(
        of("$.filterable_data(sev) == 5", Subject::Any(&whole)),
        TRUE
    );
    assert_eq!(
        of(
            "$.header.fixed_header.event_name == 'lost'",
            Subject::Any(&whole)
        ),
        TRUE
    );
}

#[test]
fn errors_name_what_is_wrong_and_where() {
    let table = [
        ("$sev >", ConstraintErrorKind::Unexpected, 6),
        ("$sev > 'x", ConstraintErrorKind::Text, 7),
        ("$sev # 3", ConstraintErrorKind::Character, 5),
        ("99999999999999999999 > 1", ConstraintErrorKind::Number, 0),
        ("(TRUE", ConstraintErrorKind::Unexpected, 5),
        ("TRUE TRUE", ConstraintErrorKind::Unexpected, 5),
        ("1 == 1 == 1", ConstraintErrorKind::Unexpected, 7),
        ("$a[-1] == 1", ConstraintErrorKind::Unexpected, 3),
    ];
    for (text, kind, position) in table {
        let error = text.parse::<Constraint>().unwrap_err();
        assert_eq!(error, ConstraintError { kind, position }, "{text}");
    }
}

#[test]
fn constraints_of_ten_thousand_nodes_are_evaluated_and_larger_ones_refused() {
    let event = event();
    let of = |operands: usize| vec!["ok"; operands].join(" and ");
    assert_eq!(evaluated(&of(9_999), &event), TRUE);
    let long = of(10_000).parse::<Constraint>().unwrap_err();
    assert_eq!(long.kind, ConstraintErrorKind::TooLarge);
    let sum = format!("{}0 == 9_998", "1 + ".repeat(4_000)).replace("9_998", "4000");
    assert_eq!(evaluated(&sum, &event), TRUE);
    for opening in ["(", "not ", "-"] {
        let deep = opening.repeat(100_000).parse::<Constraint>().unwrap_err();
        assert_eq!(deep.kind, ConstraintErrorKind::TooLarge, "{opening}");
    }
    let limits = ConstraintLimits {
        bytes: 10,
        ..ConstraintLimits::default()
    };
    let error = Constraint::parse("TRUE or TRUE", &limits).unwrap_err();
    assert_eq!(error.kind, ConstraintErrorKind::TooLarge);
}

/// For each entry all that follows was copied: hundreds of gigabytes.
#[test]
fn a_field_is_looked_up_in_a_list_of_many_entries() {
    let entries = (0..300_000).map(|it| property(&format!("e{it}"), "value"));
    let mut event = event();
    event.remainder_of_body = Any::new(&entries.collect::<Vec<_>>()).unwrap();
    let values = within("both lookups", move || {
        ["$nope == 1", "$e299999 == 'value'"].map(|it| evaluated(it, &event))
    });
    assert_eq!(values, [FAIL, TRUE]);
}
