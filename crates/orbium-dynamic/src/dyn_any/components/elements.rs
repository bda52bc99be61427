// SPDX-License-Identifier: MIT OR Apache-2.0
//! Elements of sequences and arrays.

use orbium_cdr::{Any, TCKind, TypeRef};

use crate::dyn_any::data::Data;
use crate::dyn_any::error::DynAnyError;
use crate::dyn_any::node::Content;
use crate::dyn_any::node::DynAny;

/// A [`DynAny`] of a sequence (`DynamicAny::DynSequence`).
#[derive(Debug)]
pub struct DynSequence<'d>(&'d mut DynAny);

/// A [`DynAny`] of an array (`DynamicAny::DynArray`). The elements of an array of several
/// dimensions are arrays.
#[derive(Debug)]
pub struct DynArray<'d>(&'d mut DynAny);

impl DynAny {
    /// The value as a sequence.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] if it is of another type.
    pub fn as_sequence(&mut self) -> Result<DynSequence<'_>, DynAnyError> {
        match self.kind() {
            TCKind::Sequence => Ok(DynSequence(self)),
            _ => Err(DynAnyError::TypeMismatch),
        }
    }

    /// The value as an array.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] if it is of another type.
    pub fn as_array(&mut self) -> Result<DynArray<'_>, DynAnyError> {
        match self.kind() {
            TCKind::Array => Ok(DynArray(self)),
            _ => Err(DynAnyError::TypeMismatch),
        }
    }

    /// A component of a type with the value of an any.
    pub(crate) fn part_from(code: TypeRef<'_>, value: &Any) -> Result<Self, DynAnyError> {
        if !code.equivalent(value.type_code().as_ref()) {
            return Err(DynAnyError::TypeMismatch);
        }
        let data = Data::checked(value)?.retyped(&code.to_type_code())?;
        Ok(Self::of_part(data))
    }

    /// Replaces all components, and sets the cursor to the first.
    pub(crate) fn set_parts(&mut self, parts: Vec<Self>) {
        self.content = Content::Parts(parts);
        self.rewind();
    }

    fn element_type(&self) -> Result<TypeRef<'_>, DynAnyError> {
        let element = self.plain_type().content_type();
        element.ok_or(DynAnyError::InvalidValue)
    }

    fn element_values(&mut self) -> Result<Vec<Any>, DynAnyError> {
        self.parts()?.iter().map(DynAny::to_any).collect()
    }

    fn set_element_values<'e>(
        &mut self,
        values: impl ExactSizeIterator<Item = &'e Any>,
    ) -> Result<(), DynAnyError> {
        let length = self.plain_type().length() as usize;
        let fits = match self.kind() {
            TCKind::Array => values.len() == length,
            _ => length == 0 || values.len() <= length,
        };
        if !fits {
            return Err(DynAnyError::InvalidValue);
        }
        let element = self.element_type()?;
        let parts = values.map(|value| Self::part_from(element, value));
        let parts = parts.collect::<Result<Vec<_>, _>>()?;
        self.set_parts(parts);
        Ok(())
    }
}

macro_rules! elements {
    ($name:ident) => {
        impl $name<'_> {
            /// The values of the elements (`get_elements`).
            ///
            /// # Errors
            /// [`DynAnyError::TooLarge`]; [`DynAnyError::Marshal`] for a broken value.
            pub fn elements(&mut self) -> Result<Vec<Any>, DynAnyError> {
                self.0.element_values()
            }

            /// The elements themselves (`get_elements_as_dyn_any`).
            ///
            /// # Errors
            /// As from [`elements`](Self::elements).
            pub fn elements_as_dyn_any(&mut self) -> Result<&mut [DynAny], DynAnyError> {
                self.0.parts()
            }

            /// Sets all elements, and sets the cursor to the first.
            ///
            /// # Errors
            /// [`DynAnyError::InvalidValue`] for too many, or a number that differs from that of an
            /// array; [`DynAnyError::TypeMismatch`] for one of another type. Nothing is set then.
            pub fn set_elements(&mut self, elements: &[Any]) -> Result<(), DynAnyError> {
                self.0.set_element_values(elements.iter())
            }

            /// As [`set_elements`](Self::set_elements).
            ///
            /// # Errors
            /// As from [`set_elements`](Self::set_elements).
            pub fn set_elements_as_dyn_any(
                &mut self,
                elements: &[DynAny],
            ) -> Result<(), DynAnyError> {
                let values = DynAny::to_anys(elements)?;
                self.0.set_element_values(values.iter())
            }
        }
    };
}

elements!(DynSequence);
elements!(DynArray);

impl DynSequence<'_> {
    /// The number of elements (`get_length`).
    #[must_use]
    pub fn length(&self) -> usize {
        self.0.component_count()
    }

    /// Extends it by initial values, or truncates it. If no element was current, the first of the
    /// new ones becomes current; if the current one is removed, none is.
    ///
    /// # Errors
    /// [`DynAnyError::InvalidValue`] for more than the bound, [`DynAnyError::TooLarge`],
    /// [`DynAnyError::InconsistentTypeCode`] for elements that have no DynAny.
    pub fn set_length(&mut self, length: usize) -> Result<(), DynAnyError> {
        let bound = self.0.plain_type().length() as usize;
        if bound > 0 && length > bound {
            return Err(DynAnyError::InvalidValue);
        }
        if length > DynAny::MAX_COMPONENTS {
            return Err(DynAnyError::TooLarge);
        }
        let before = self.length();
        let element = DynAny::of_type(&self.0.element_type()?.to_type_code());
        let parts = self.0.parts_as_list()?.ok_or(DynAnyError::TypeMismatch)?;
        if length > before {
            parts.resize(length, element?);
        } else {
            parts.truncate(length);
        }
        let position = self.0.position;
        self.0.position = match position {
            None if length > before => Some(before),
            position => position.filter(|position| *position < length),
        };
        Ok(())
    }
}
