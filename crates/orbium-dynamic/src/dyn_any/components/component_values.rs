// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values of valuetypes as components, in and out.

use orbium_cdr::{Any, Decode as _, Encode, TCKind};
use orbium_core::ObjectRef;
use orbium_value::{Abstract, ValueBase, read_described};

use crate::dyn_any::data::Data;
use crate::dyn_any::error::DynAnyError;
use crate::dyn_any::node::{Content, DynAny};

/// Values of valuetypes and abstract interfaces as current components.
///
/// A value is inserted and extracted as a copy of its graph: the program and the DynAny do not
/// share values. The members of a component are accessed by [`as_value`](Self::as_value).
impl DynAny {
    /// Inserts a value of a valuetype or a boxed value, or null (`insert_val`), as the current
    /// component.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] if the component is of another type, or the value of one that
    /// does not inherit it; [`DynAnyError::InvalidValue`] if no component is current, or for a
    /// value of a custom type, which has no DynAny.
    pub fn insert_val(&mut self, value: Option<&ValueBase>) -> Result<(), DynAnyError> {
        let target = self.current(is_value)?;
        if value.is_some_and(|value| !value.fits(target.plain_type())) {
            return Err(DynAnyError::TypeMismatch);
        }
        target.set_to(&value.cloned())
    }

    /// The current component as a value of a valuetype, null as `None` (`get_val`).
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] if the component is of another type,
    /// [`DynAnyError::InvalidValue`] if no component is current.
    pub fn get_val(&mut self) -> Result<Option<ValueBase>, DynAnyError> {
        let any = self.current(is_value)?.to_any()?;
        let code = any.type_code().as_ref();
        Ok(any.read_with(|reader| read_described(code.unaliased(), reader))?)
    }

    /// Inserts the object or value of an abstract interface, or nil (`insert_abstract`), as the
    /// current component.
    ///
    /// # Errors
    /// As from [`insert_val`](Self::insert_val). The interfaces of the object or value are not
    /// checked, as a TypeCode does not contain them.
    pub fn insert_abstract(
        &mut self,
        value: Option<&Abstract<ObjectRef>>,
    ) -> Result<(), DynAnyError> {
        let target = self.current(is_abstract)?;
        target.set_to(&value.cloned())
    }

    /// The current component as the object or value of an abstract interface, nil as `None`
    /// (`get_abstract`).
    ///
    /// # Errors
    /// As from [`get_val`](Self::get_val).
    pub fn get_abstract(&mut self) -> Result<Option<Abstract<ObjectRef>>, DynAnyError> {
        let any = self.current(is_abstract)?.to_any()?;
        let code = any.type_code().as_ref();
        let read = any.read_with(|reader| {
            if reader.read_bool()? {
                Ok(Option::decode(reader)?.map(Abstract::Object))
            } else {
                Ok(read_described(code.unaliased(), reader)?.map(Abstract::Value))
            }
        });
        Ok(read?)
    }

    /// The current component, if it is of a kind that `fits`.
    fn current(&mut self, fits: impl FnOnce(TCKind) -> bool) -> Result<&mut Self, DynAnyError> {
        let current = self.current_component()?;
        let current = current.ok_or(DynAnyError::InvalidValue)?;
        if fits(current.kind()) {
            Ok(current)
        } else {
            Err(DynAnyError::TypeMismatch)
        }
    }

    fn set_to(&mut self, value: &impl Encode) -> Result<(), DynAnyError> {
        let any = Any::with_type(self.code.clone(), value);
        let data = any.and_then(|any| Data::of(&any));
        self.content = Content::Whole(data.map_err(|_| DynAnyError::InvalidValue)?);
        self.rewind();
        Ok(())
    }
}

fn is_value(kind: TCKind) -> bool {
    matches!(kind, TCKind::Value | TCKind::ValueBox | TCKind::Event)
}

fn is_abstract(kind: TCKind) -> bool {
    kind == TCKind::AbstractInterface
}
