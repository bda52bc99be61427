// SPDX-License-Identifier: MIT OR Apache-2.0
//! Event types: value types of the component model, with a TypeCode kind of their own.

use orbium::value::{EventBase, ValueType as _};
use orbium::{Any, Call, Interface, Orb, SystemException, TypeCode, cdr::TCKind};
use orbium_cdr::Typed;

mod golden {
    include!("../golden/events.rs");
}

use golden::events::{
    Alarm, AlarmState, Observed, Reading, ReadingState, Sealed, Sink, SinkServant,
};

struct Echo;

impl SinkServant for Echo {
    fn push(
        &self,
        _: &Call<'_>,
        event: Option<&Reading>,
    ) -> Result<Option<Reading>, SystemException> {
        Ok(event.cloned())
    }

    fn pass(&self, _: &Call<'_>, event: &Any) -> Result<Any, SystemException> {
        Ok(event.clone())
    }
}

fn alarm() -> Alarm {
    Alarm::new(AlarmState {
        base: ReadingState {
            level: 9.5,
            source: 3,
        },
        text: "high".to_owned(),
    })
}

/// Conformance: IDL - value types: event types have a TypeCode kind of their own
#[test]
fn event_types_have_a_type_code_kind_of_their_own() {
    for described in [Observed::TYPE, Reading::TYPE, Alarm::TYPE, Sealed::TYPE] {
        assert_eq!(TypeCode::from(described).kind(), TCKind::Event);
    }
    assert_eq!(Alarm::class().id, "IDL:orbium.test/Events/Alarm:1.0");
}

#[test]
fn events_travel_as_values_do() -> Result<(), Box<dyn std::error::Error>> {
    let orb = Orb::builder().endpoint("iiop://127.0.0.1:0")?.build()?;
    orb.root_poa().manager().activate()?;
    let sink: Sink = orb.root_poa().activate(Echo)?;
    let client = Orb::builder().build()?;
    let sink: Sink = client.resolve(&orb.object_to_string(sink.as_object()))?;
    let sent = alarm();
    let came = sink.push(Some(&sent))?.ok_or("no event came back")?;
    let came: Alarm = came.downcast().ok_or("it was cut down")?;
    assert_eq!(*came.read(), *sent.read());
    let event = EventBase::from(came);
    assert!(event.downcast::<Reading>().is_some() && event.downcast::<Sealed>().is_none());

    let any = Any::new(&Some(sent.clone()))?;
    assert_eq!(any.type_code().kind(), TCKind::Event);
    let came: Option<Alarm> = sink.pass(&any)?.extract()?;
    assert_eq!(*came.ok_or("null")?.read(), *sent.read());
    client.shutdown(true)?;
    orb.shutdown(true)?;
    Ok(())
}
