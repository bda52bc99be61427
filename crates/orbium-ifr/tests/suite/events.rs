// SPDX-License-Identifier: MIT OR Apache-2.0
//! Event types of the component model in the repository.

use orbium::{ExceptionKind, Interface, SystemException, cdr::TCKind};
use orbium_ifr::corba::component_ir::{self, EventDef};
use orbium_ifr::corba::{DefinitionKind, IdlType, PrimitiveKind, ValueDef, ValueDescription};
use orbium_ifr::idl_of;

use crate::exporting::round_trip;
use crate::served::Served;

const EVENTS: &str = "#pragma prefix \"orbium.test\"
    module Events {
      abstract valuetype Timed {};
      abstract eventtype Observed : Timed { string summary(); };
      eventtype Reading : Observed {
        public double level;
        private long source;
        factory at(in double level);
      };
      eventtype Alarm : truncatable Reading { public Reading cause; };
      custom eventtype Sealed { public string seal; };
      struct Pair { Reading first; Alarm second; };
    };";

fn served() -> Served {
    Served::with(EVENTS)
}

/// Conformance: ORB - Interface Repository - event types
#[test]
fn event_types_are_read_as_value_types_of_their_own_kind() {
    let served = served();
    let alarm: EventDef = served.find("IDL:orbium.test/Events/Alarm:1.0");
    assert_eq!(alarm.def_kind().unwrap(), DefinitionKind::DkEvent);
    assert_eq!(alarm.r#type().unwrap().kind(), TCKind::Event);
    assert!(alarm.is_truncatable().unwrap() && !alarm.is_custom().unwrap());
    // Clients that know value types only have it as one.
    let value: ValueDef = alarm.as_object().narrow().unwrap();
    let described = value.describe_value().unwrap();
    assert_eq!(described.base_value, "IDL:orbium.test/Events/Reading:1.0");
    assert_eq!(described.members[0].name, "cause");
    let described = value.describe().unwrap();
    assert_eq!(described.kind, DefinitionKind::DkEvent);
    let described: ValueDescription = described.value.extract().unwrap();
    assert!(described.is_truncatable);
    let base = value.base_value().unwrap().unwrap();
    assert_eq!(
        base.as_object()
            .narrow::<EventDef>()
            .unwrap()
            .name()
            .unwrap(),
        "Reading"
    );
}

/// Conformance: ORB - Interface Repository - event types - out again as IDL, and in by that text
#[test]
fn event_types_come_out_with_the_same_ids() {
    let text = round_trip(EVENTS);
    for head in [
        "abstract eventtype Observed",
        "eventtype Alarm : truncatable ::Events::Reading",
        "custom eventtype Sealed",
    ] {
        assert!(text.contains(head), "{text}");
    }
}

#[test]
fn an_event_type_is_not_the_value_type_of_its_id() {
    let served = served();
    let other = EVENTS.replace("custom eventtype", "custom valuetype");
    let loaded = served.repository.load(&crate::served::model(&other));
    assert!(loaded.unwrap_err().to_string().contains("Sealed"));
}

fn create(
    container: &component_ir::Container,
    name: &str,
    is_abstract: bool,
    base: Option<&ValueDef>,
    is_truncatable: bool,
) -> Result<EventDef, SystemException> {
    let id = format!("IDL:{name}:1.0");
    let made = container.create_event(
        &id,
        name,
        "1.0",
        false,
        is_abstract,
        base,
        is_truncatable,
        &[],
        &[],
        &[],
    )?;
    Ok(made.unwrap())
}

/// Conformance: ORB - Interface Repository - event types - `create_event` of repositories and modules
#[test]
fn event_types_are_created() {
    let served = Served::empty();
    let root = served.remote();
    let root: component_ir::Repository = root.as_object().narrow().unwrap();
    let in_root = component_ir::Container::from_object(root.as_object().clone());
    let first = create(&in_root, "First", false, None, false).unwrap();
    let long = root.get_primitive(PrimitiveKind::PkLong).unwrap().unwrap();
    let long = IdlType::from_object(long.as_object().clone());
    first
        .create_value_member("IDL:First/x:1.0", "x", "1.0", Some(&long), 1)
        .unwrap()
        .unwrap();
    let module = root
        .create_module("IDL:M:1.0", "M", "1.0")
        .unwrap()
        .unwrap();
    let module: component_ir::ModuleDef = module.as_object().narrow().unwrap();
    let in_module = component_ir::Container::from_object(module.as_object().clone());
    let base = ValueDef::from_object(first.as_object().clone());
    let second = create(&in_module, "Second", false, Some(&base), true).unwrap();
    let code = second.r#type().unwrap();
    assert_eq!(code.kind(), TCKind::Event);
    assert_eq!(
        code.as_ref().concrete_base_type().unwrap().kind(),
        TCKind::Event
    );
    let text = idl_of(&served.remote()).unwrap();
    assert!(
        text.contains("eventtype Second : truncatable ::First"),
        "{text}"
    );

    // What makes no event type is refused.
    for (is_abstract, base, is_truncatable) in [(true, Some(&base), false), (false, None, true)] {
        let refused = create(&in_root, "Third", is_abstract, base, is_truncatable).unwrap_err();
        assert_eq!(refused.kind, ExceptionKind::BadParam);
    }
    let twice = create(&in_root, "First", false, None, false).unwrap_err();
    assert_eq!(
        (twice.kind, twice.minor & 0xfff),
        (ExceptionKind::BadParam, 2)
    );
}

#[test]
fn event_types_stay_in_a_file() {
    let file = crate::files::File::new();
    let served = Served::open(&file.0).unwrap();
    served
        .repository
        .load(&crate::served::model(EVENTS))
        .unwrap();
    drop(served);
    let served = Served::open(&file.0).unwrap();
    let sealed: EventDef = served.find("IDL:orbium.test/Events/Sealed:1.0");
    assert!(sealed.is_custom().unwrap());
}
