// SPDX-License-Identifier: MIT OR Apache-2.0
//! `Values::Echo`, and the operations of the values that it echoes.

use orbium::value::{Abstract, CustomMarshal, DataInput, DataOutput, Factories, ValueBase};
use orbium::{Any, Call, ExceptionKind, Orb, SystemException, cdr::CdrError, poa::PoaError};

use crate::alarms::Alarm;
use crate::packed::{Parcel, ParcelState};
use crate::values::{
    Arrow, Chain, DescribableServant, Echo, EchoEchoPointsResults, EchoServant as Servant,
    Labelled, Note, NoteOperations, NoteState, Numbers, Point, Refused, RefusedError, Text, Tree,
    Two,
};

type Answer<T> = Result<T, SystemException>;

/// The operations of a [`Note`].
struct Spoken;

impl NoteOperations for Spoken {
    fn describe(&self, this: &Note) -> Answer<String> {
        Ok(format!("note: {}", this.read().text))
    }
}

/// A note with its operations.
#[must_use]
pub fn note(text: &str) -> Note {
    let text = text.to_owned();
    Note::with_operations(NoteState { text }, Spoken)
}

/// The custom marshalling of a [`Parcel`]: its members in order.
struct InOrder;

impl CustomMarshal<Parcel> for InOrder {
    fn marshal(&self, this: &Parcel, output: &mut DataOutput<'_, '_>) -> Result<(), CdrError> {
        let state = this.read();
        output.write_long(state.number);
        output.write_string(&state.label);
        output.write_value(state.within.as_ref());
        Ok(())
    }

    fn unmarshal(&self, this: &Parcel, input: &mut DataInput<'_, '_>) -> Result<(), CdrError> {
        let number = input.read_long()?;
        let label = input.read_string()?;
        let within = input.read_value()?;
        *this.write() = ParcelState {
            number,
            label,
            within,
        };
        Ok(())
    }
}

/// A custom value with this state.
#[must_use]
pub fn parcel(state: ParcelState) -> Parcel {
    Parcel::with_operations(state, InOrder)
}

/// Registers the types of `values.idl` and `packed.idl`, so that their values can also be received
/// in anys and as `ValueBase`, with their operations.
pub fn register_values(factories: &Factories) {
    factories.register_type::<Point>();
    factories.register_type::<Labelled>();
    factories.register_type::<Arrow>();
    factories.register_type::<Chain>();
    factories.register_type::<Tree>();
    factories.register_type::<Text>();
    factories.register_type::<Numbers>();
    factories.register_type::<Alarm>();
    factories.register(|| note(""));
    factories.register(|| parcel(ParcelState::default()));
}

/// Activates an [`EchoServant`] in the root adapter, also under the plain key `Echo`, and activates
/// the adapter's manager.
///
/// `Echo::shutdown` ends the ORB without waiting for it.
///
/// # Errors
/// The ORB cannot listen, or was shut down.
pub fn serve_values(orb: &Orb) -> Result<Echo, PoaError> {
    register_values(orb.value_factories());
    let poa = orb.root_poa();
    let echo: Echo = poa.activate(EchoServant)?;
    orb.bind_key("Echo", &echo)?;
    // Only an adapter that was shut down cannot be activated.
    let activated = poa.manager().activate();
    activated.map_err(|_| SystemException::from(ExceptionKind::ObjAdapter))?;
    Ok(echo)
}

/// Echoes values.
#[derive(Clone, Copy, Debug, Default)]
pub struct EchoServant;

impl DescribableServant for EchoServant {
    fn describe(&self, _: &Call<'_>) -> Answer<String> {
        Ok("echo".to_owned())
    }
}

impl Servant for EchoServant {
    fn echo_point(&self, _: &Call<'_>, v: Option<&Point>) -> Result<Option<Point>, RefusedError> {
        match v {
            Some(point) if point.read().x < 0 => {
                let r#where = Some(point.clone());
                Err(Refused { r#where }.into())
            }
            point => Ok(point.cloned()),
        }
    }

    fn echo_two(&self, _: &Call<'_>, v: &Two) -> Answer<Two> {
        Ok(v.clone())
    }

    fn echo_points(
        &self,
        _: &Call<'_>,
        v: Option<&Point>,
        _both: &mut Option<Point>,
    ) -> Answer<EchoEchoPointsResults> {
        Ok(EchoEchoPointsResults {
            result: v.cloned(),
            copy: v.cloned(),
        })
    }

    fn echo_chain(&self, _: &Call<'_>, v: Option<&Chain>) -> Answer<Option<Chain>> {
        Ok(v.cloned())
    }

    fn echo_tree(&self, _: &Call<'_>, v: Option<&Tree>) -> Answer<Option<Tree>> {
        Ok(v.cloned())
    }

    fn echo_text(&self, _: &Call<'_>, v: Option<&Text>) -> Answer<Option<Text>> {
        Ok(v.cloned())
    }

    fn echo_numbers(&self, _: &Call<'_>, v: Option<&Numbers>) -> Answer<Option<Numbers>> {
        Ok(v.cloned())
    }

    fn echo_any(&self, _: &Call<'_>, v: &Any) -> Answer<Any> {
        Ok(v.clone())
    }

    fn echo_base(&self, _: &Call<'_>, v: Option<&ValueBase>) -> Answer<Option<ValueBase>> {
        Ok(v.cloned())
    }

    fn echo_describable(
        &self,
        _: &Call<'_>,
        v: Option<&Abstract<crate::values::Describable>>,
    ) -> Answer<Option<Abstract<crate::values::Describable>>> {
        Ok(v.cloned())
    }

    fn description(
        &self,
        _: &Call<'_>,
        v: Option<&Abstract<crate::values::Describable>>,
    ) -> Answer<String> {
        match v {
            None => Ok("nothing".to_owned()),
            Some(Abstract::Object(object)) => object.describe(),
            Some(value) => {
                let note: Note = value.value().ok_or(ExceptionKind::BadParam)?;
                note.describe()
            }
        }
    }

    fn shutdown(&self, call: &Call<'_>) -> Answer<()> {
        call.orb().shutdown(false)
    }
}
