// SPDX-License-Identifier: MIT OR Apache-2.0
//! A value, whole or in its components, and its cursor.

use orbium_cdr::{Any, CdrError, CdrErrorKind, CdrReader, MemberRef, TCKind, TypeCode, TypeRef};
use orbium_value::ValueBase;

use super::data::Data;
use super::error::DynAnyError;
use crate::labels::label_of;

/// A value of a type that is determined at run time, with a cursor over its components
/// (`DynamicAny::DynAny`).
///
/// ```
/// use orbium_cdr::{Any, Type, TypeCode};
/// use orbium_dynamic::DynAny;
///
/// let members = [("x", Type::LONG.into()), ("name", Type::STRING.into())];
/// let mut point = DynAny::of_type(&TypeCode::structure("IDL:Point:1.0", "Point", members))?;
/// point.insert_long(3)?;
/// point.next();
/// point.insert_string("three")?;
/// let any: Any = point.to_any()?;
///
/// let mut read = DynAny::new(&any)?;
/// let members = read.as_struct()?.members()?;
/// assert_eq!(members[1], ("name".to_owned(), Any::from("three")));
/// assert_eq!(read.get_long()?, 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A component belongs to its owner and is borrowed from it: changes of the component change the
/// owner, and the component cannot be used after the owner. So `destroy` is `drop`, and
/// OBJECT_NOT_EXIST cannot happen:
///
/// ```compile_fail
/// # use orbium_cdr::Any;
/// # use orbium_dynamic::DynAny;
/// let mut owner = DynAny::new(&Any::new(&vec![1i32]).unwrap()).unwrap();
/// let component = owner.current_component().unwrap().unwrap();
/// owner.destroy();
/// component.insert_long(2).unwrap();
/// ```
///
/// `insert_…` and `get_…` apply to the value itself if it is of a basic type, otherwise to its
/// current component. They return [`DynAnyError::TypeMismatch`] if that is of another type or has
/// components itself, and [`DynAnyError::InvalidValue`] if no component is current.
///
/// A value remains encoded in CDR until a component is accessed.
#[derive(Clone)]
pub struct DynAny {
    pub(super) code: TypeCode,
    pub(super) content: Content,
    /// The current component; `None` is -1.
    pub(super) position: Option<usize>,
}

/// The value of a DynAny. It remains encoded until a component is accessed.
#[derive(Clone)]
pub(super) enum Content {
    /// A value of the type, or of an equivalent one.
    Whole(Data),
    /// The members of a struct or exception, the elements of a sequence or array.
    Parts(Vec<DynAny>),
    /// A discriminator, and the active member.
    Union {
        parts: Vec<DynAny>,
        /// The index of the member among those of the type.
        active: Option<usize>,
    },
    /// The members of a value of a valuetype, or the content of a box.
    Value(Members),
}

/// The members of a value of a valuetype.
#[derive(Clone)]
pub(super) struct Members {
    /// The data with the original members; `None` for a new value.
    pub(super) origin: Option<Data>,
    /// The type of the value itself.
    pub(super) code: TypeCode,
    /// The type of its state, a struct.
    pub(super) state: TypeCode,
    pub(super) parts: Vec<DynAny>,
}

/// Whether types of that kind, with aliases resolved, have DynAnys: a remaining alias is the
/// placeholder of a type that was never defined.
pub(super) fn has_dyn_any(kind: TCKind) -> bool {
    !matches!(
        kind,
        TCKind::Alias
            | TCKind::Native
            | TCKind::Principal
            | TCKind::LocalInterface
            | TCKind::AbstractInterface
    )
}

impl DynAny {
    /// Maximum number of components of one level that are expanded: 2^24.
    pub const MAX_COMPONENTS: usize = 1 << 24;

    pub(super) fn with_content(code: TypeCode, content: Content) -> Self {
        let mut made = Self {
            code,
            content,
            position: None,
        };
        made.rewind();
        made
    }

    /// A component out of a checked whole.
    pub(super) fn of_part(data: Data) -> Self {
        Self::with_content(data.type_code().clone(), Content::Whole(data))
    }

    /// The type, aliases and all (`type`).
    #[must_use]
    pub fn type_code(&self) -> &TypeCode {
        &self.code
    }

    /// The type after resolving all aliases.
    pub(super) fn plain_type(&self) -> TypeRef<'_> {
        self.code.as_ref().unaliased()
    }

    pub(super) fn kind(&self) -> TCKind {
        self.plain_type().kind()
    }

    pub(super) fn may_have_components(&self) -> bool {
        let code = self.plain_type();
        match code.kind() {
            TCKind::Struct | TCKind::Except => code.member_count() > 0,
            TCKind::Union | TCKind::Sequence | TCKind::Array => true,
            TCKind::Value | TCKind::ValueBox | TCKind::Event => true,
            _ => false,
        }
    }
}

/// The cursor.
impl DynAny {
    /// Sets the cursor to the component at `index`. Returns whether it exists; otherwise no
    /// component is current, also for a negative index.
    pub fn seek(&mut self, index: i32) -> bool {
        let index = usize::try_from(index).ok();
        self.position = index.filter(|index| *index < self.component_count());
        self.position.is_some()
    }

    /// Sets the cursor to the first component, as `seek(0)`.
    pub fn rewind(&mut self) -> bool {
        self.seek(0)
    }

    /// Sets the cursor to the next component. Returns whether it exists.
    #[allow(clippy::should_implement_trait)] // the name in the specification
    pub fn next(&mut self) -> bool {
        let next = self.position.map_or(0, |position| position + 1);
        self.position = Some(next).filter(|next| *next < self.component_count());
        self.position.is_some()
    }

    /// The index of the current component; `None` is the -1 of the specification.
    #[must_use]
    pub fn position(&self) -> Option<usize> {
        self.position
    }

    /// The number of components: members, elements, of a union the discriminator and the
    /// active member, members of a value that is not null. A basic type has none.
    #[must_use]
    pub fn component_count(&self) -> usize {
        match &self.content {
            Content::Whole(data) => count(self.plain_type(), data).unwrap_or(0),
            Content::Parts(parts) => parts.len(),
            Content::Value(members) => members.parts.len(),
            Content::Union { parts, .. } => {
                let selected = parts.first().map(|it| selected(self.plain_type(), it));
                match selected {
                    Some(Ok(Some(_))) => 2,
                    _ => 1,
                }
            }
        }
    }
}

/// The number of components of an unexpanded value.
pub(super) fn count(code: TypeRef<'_>, data: &Data) -> Result<usize, DynAnyError> {
    Ok(match code.kind() {
        TCKind::Struct | TCKind::Except => code.member_count(),
        TCKind::Array => code.length() as usize,
        TCKind::Sequence => match data.octets().first_chunk() {
            Some(count) => u32::from_ne_bytes(*count) as usize,
            None => return Err(DynAnyError::InvalidValue),
        },
        TCKind::Union => {
            let discriminator = data.read(|reader| discriminator(code, reader))?;
            match code.selected_member(label_of(&discriminator)?) {
                Some(_) => 2,
                None => 1,
            }
        }
        TCKind::Value | TCKind::ValueBox | TCKind::Event => {
            let state = data.value().and_then(ValueBase::state_type);
            state.map_or(0, |state| state.as_ref().member_count())
        }
        _ => 0,
    })
}

/// The index of the member that a discriminator selects.
pub(super) fn selected(
    code: TypeRef<'_>,
    discriminator: &DynAny,
) -> Result<Option<usize>, DynAnyError> {
    let Content::Whole(Data::Plain(any)) = &discriminator.content else {
        return Err(DynAnyError::InvalidValue);
    };
    let member = code.selected_member(label_of(any)?);
    Ok(member.map(MemberRef::index))
}

/// Reads the discriminator of a union.
pub(super) fn discriminator(
    code: TypeRef<'_>,
    reader: &mut CdrReader<'_>,
) -> Result<Any, CdrError> {
    let bad = || CdrError::new(CdrErrorKind::BadTypeCode, 0);
    let discriminator = code.discriminator_type().ok_or_else(bad)?;
    Any::read_value(discriminator.to_type_code(), reader)
}
