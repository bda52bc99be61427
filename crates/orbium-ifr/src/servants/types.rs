// SPDX-License-Identifier: MIT OR Apache-2.0
//! Types, named and anonymous.

use orbium::{Call, TypeCode};

use crate::corba::{self, IdlType, StructMember, UnionMember};
use crate::edit::{self, Edit};
use crate::entry::{Body, Key, TypeDef};
use crate::fault;
use crate::fault::Result;
use crate::objects::Objects;
use crate::servants::fixed;

impl Objects {
    /// A number in the body of the called type.
    fn number<T>(&self, call: &Call<'_>, of: impl FnOnce(&Body) -> Option<T>) -> Result<T> {
        self.read(call, |view, key| {
            of(&view.entry(key)?.body).ok_or(fault::GONE)
        })
    }

    /// The element, original or content type of the called type.
    fn content(&self, call: &Call<'_>) -> Result<Option<IdlType>> {
        self.read(call, |view, key| {
            view.type_reference(content(&view.entry(key)?.body)?)
        })
    }

    fn element_code(&self, call: &Call<'_>) -> Result<TypeCode> {
        self.read(call, |view, key| {
            view.store.type_code(content(&view.entry(key)?.body)?)
        })
    }

    fn set_content(&self, call: &Call<'_>, value: Option<&IdlType>) -> Result<()> {
        self.write(call, |edit, key| {
            let ty = match &edit.store.entry(key)?.body {
                Body::ValueBox(_) => edit.boxed_type(value)?,
                _ => edit.member_type(value)?,
            };
            edit.set(key, |body| {
                if let Body::Alias(content)
                | Body::ValueBox(content)
                | Body::Sequence {
                    element: content, ..
                }
                | Body::Array {
                    element: content, ..
                } = body
                {
                    *content = ty;
                }
            })
        })
    }

    fn set_body(&self, call: &Call<'_>, of: impl FnOnce(&Body) -> Result<Body>) -> Result<()> {
        self.write(call, |edit, key| {
            let new = of(&edit.store.entry(key)?.body)?;
            edit.set(key, |body| *body = new)
        })
    }

    fn struct_members(&self, call: &Call<'_>) -> Result<Vec<StructMember>> {
        self.read(call, |view, key| match &view.entry(key)?.body {
            Body::Struct(members) | Body::Exception(members) => view.members(members),
            _ => Err(fault::GONE),
        })
    }

    fn set_struct_members(&self, call: &Call<'_>, value: &[StructMember]) -> Result<()> {
        self.write(call, |edit, key| {
            let new = edit.members(value)?;
            edit.set(key, |body| {
                if let Body::Struct(members) | Body::Exception(members) = body {
                    *members = new;
                }
            })
        })
    }
}

fn content(body: &Body) -> Result<TypeDef> {
    match body {
        Body::Alias(ty) | Body::ValueBox(ty) => Ok(*ty),
        Body::Sequence { element, .. } | Body::Array { element, .. } => Ok(*element),
        _ => Err(fault::GONE),
    }
}

impl Edit<'_> {
    /// The content type of a value box, which is not a value.
    pub(crate) fn boxed_type(&self, argument: Option<&IdlType>) -> Result<TypeDef> {
        let ty = self.member_type(argument)?;
        let mut resolved = ty;
        // An alias of itself cannot be created.
        while let TypeDef::Entry(key) = resolved {
            match &self.store.entry(key)?.body {
                Body::Alias(original) => resolved = *original,
                Body::Value(_) | Body::ValueBox(_) => return Err(fault::BAD_MEMBER_TYPE),
                _ => break,
            }
        }
        if resolved.is(corba::PrimitiveKind::PkValueBase) {
            Err(fault::BAD_MEMBER_TYPE)
        } else {
            Ok(ty)
        }
    }
}

impl corba::TypedefDefServant for Objects {}
impl corba::NativeDefServant for Objects {}

impl corba::StructDefServant for Objects {
    fn members(&self, call: &Call<'_>) -> Result<Vec<StructMember>> {
        self.struct_members(call)
    }

    fn set_members(&self, call: &Call<'_>, value: &[StructMember]) -> Result<()> {
        self.set_struct_members(call, value)
    }
}

impl corba::ExceptionDefServant for Objects {
    fn r#type(&self, call: &Call<'_>) -> Result<TypeCode> {
        self.read(call, |view, key| view.store.type_of(key))
    }

    fn members(&self, call: &Call<'_>) -> Result<Vec<StructMember>> {
        self.struct_members(call)
    }

    fn set_members(&self, call: &Call<'_>, value: &[StructMember]) -> Result<()> {
        self.set_struct_members(call, value)
    }
}

impl Objects {
    fn discriminator(&self, call: &Call<'_>) -> Result<(Key, TypeDef)> {
        self.read(call, |view, key| match &view.entry(key)?.body {
            Body::Union { discriminator, .. } => Ok((key, *discriminator)),
            _ => Err(fault::GONE),
        })
    }
}

impl corba::UnionDefServant for Objects {
    fn discriminator_type(&self, call: &Call<'_>) -> Result<TypeCode> {
        let (_, discriminator) = self.discriminator(call)?;
        self.view(|view| view.store.type_code(discriminator))
    }

    fn discriminator_type_def(&self, call: &Call<'_>) -> Result<Option<IdlType>> {
        let (_, discriminator) = self.discriminator(call)?;
        self.view(|view| view.type_reference(discriminator))
    }

    fn set_discriminator_type_def(&self, call: &Call<'_>, value: Option<&IdlType>) -> Result<()> {
        self.write(call, |edit, key| {
            let new = edit.ty(value)?;
            let Body::Union {
                discriminator,
                cases,
            } = &edit.store.entry(key)?.body
            else {
                return Err(fault::GONE);
            };
            // The labels stay, and must be valid for the new type too.
            let members = edit.view().cases(*discriminator, cases)?;
            let old = edit.store.type_code(*discriminator)?;
            let code = edit.store.type_code(new)?;
            let fits = old.unaliased().kind() == code.unaliased().kind();
            let cases = if fits && old.unaliased().kind() != orbium::cdr::TCKind::Enum {
                cases.clone()
            } else {
                edit.cases(new, &members)?
            };
            edit.set(key, |body| {
                *body = Body::Union {
                    discriminator: new,
                    cases,
                }
            })
        })
    }

    fn members(&self, call: &Call<'_>) -> Result<Vec<UnionMember>> {
        self.read(call, |view, key| match &view.entry(key)?.body {
            Body::Union {
                discriminator,
                cases,
            } => view.cases(*discriminator, cases),
            _ => Err(fault::GONE),
        })
    }

    fn set_members(&self, call: &Call<'_>, value: &[UnionMember]) -> Result<()> {
        self.write(call, |edit, key| {
            let Body::Union { discriminator, .. } = &edit.store.entry(key)?.body else {
                return Err(fault::GONE);
            };
            let discriminator = *discriminator;
            let cases = edit.cases(discriminator, value)?;
            edit.set(key, |body| {
                *body = Body::Union {
                    discriminator,
                    cases,
                }
            })
        })
    }
}

impl corba::EnumDefServant for Objects {
    fn members(&self, call: &Call<'_>) -> Result<Vec<String>> {
        self.number(call, |body| match body {
            Body::Enum(names) => Some(names.clone()),
            _ => None,
        })
    }

    fn set_members(&self, call: &Call<'_>, value: &[String]) -> Result<()> {
        edit::check_names(value.iter().map(|it| &**it))?;
        self.set_body(call, |_| Ok(Body::Enum(value.to_vec())))
    }
}

impl corba::AliasDefServant for Objects {
    fn original_type_def(&self, call: &Call<'_>) -> Result<Option<IdlType>> {
        self.content(call)
    }

    fn set_original_type_def(&self, call: &Call<'_>, value: Option<&IdlType>) -> Result<()> {
        self.set_content(call, value)
    }
}

impl corba::ValueBoxDefServant for Objects {
    fn original_type_def(&self, call: &Call<'_>) -> Result<Option<IdlType>> {
        self.content(call)
    }

    fn set_original_type_def(&self, call: &Call<'_>, value: Option<&IdlType>) -> Result<()> {
        self.set_content(call, value)
    }
}

/// Bounds of strings are at least 1.
fn bounded(bound: u32, body: impl FnOnce(u32) -> Body) -> Result<Body> {
    match bound {
        0 => Err(fault::BAD_ARGUMENT),
        bound => Ok(body(bound)),
    }
}

impl corba::StringDefServant for Objects {
    fn bound(&self, call: &Call<'_>) -> Result<u32> {
        self.number(call, |body| match body {
            Body::String(bound) => Some(*bound),
            _ => None,
        })
    }

    fn set_bound(&self, call: &Call<'_>, value: u32) -> Result<()> {
        self.set_body(call, |_| bounded(value, Body::String))
    }
}

impl corba::WstringDefServant for Objects {
    fn bound(&self, call: &Call<'_>) -> Result<u32> {
        self.number(call, |body| match body {
            Body::Wstring(bound) => Some(*bound),
            _ => None,
        })
    }

    fn set_bound(&self, call: &Call<'_>, value: u32) -> Result<()> {
        self.set_body(call, |_| bounded(value, Body::Wstring))
    }
}

impl corba::FixedDefServant for Objects {
    fn digits(&self, call: &Call<'_>) -> Result<u16> {
        self.number(call, |body| match body {
            Body::Fixed { digits, .. } => Some(*digits),
            _ => None,
        })
    }

    fn set_digits(&self, call: &Call<'_>, value: u16) -> Result<()> {
        self.set_body(call, |body| match body {
            Body::Fixed { scale, .. } => fixed(value, *scale),
            _ => Err(fault::GONE),
        })
    }

    fn scale(&self, call: &Call<'_>) -> Result<i16> {
        self.number(call, |body| match body {
            Body::Fixed { scale, .. } => Some(*scale),
            _ => None,
        })
    }

    fn set_scale(&self, call: &Call<'_>, value: i16) -> Result<()> {
        self.set_body(call, |body| match body {
            Body::Fixed { digits, .. } => fixed(*digits, value),
            _ => Err(fault::GONE),
        })
    }
}

impl corba::SequenceDefServant for Objects {
    fn bound(&self, call: &Call<'_>) -> Result<u32> {
        self.number(call, |body| match body {
            Body::Sequence { bound, .. } => Some(*bound),
            _ => None,
        })
    }

    fn set_bound(&self, call: &Call<'_>, value: u32) -> Result<()> {
        self.set_body(call, |body| {
            let element = content(body)?;
            Ok(Body::Sequence {
                bound: value,
                element,
            })
        })
    }

    fn element_type(&self, call: &Call<'_>) -> Result<TypeCode> {
        self.element_code(call)
    }

    fn element_type_def(&self, call: &Call<'_>) -> Result<Option<IdlType>> {
        self.content(call)
    }

    fn set_element_type_def(&self, call: &Call<'_>, value: Option<&IdlType>) -> Result<()> {
        self.set_content(call, value)
    }
}

impl corba::ArrayDefServant for Objects {
    fn length(&self, call: &Call<'_>) -> Result<u32> {
        self.number(call, |body| match body {
            Body::Array { length, .. } => Some(*length),
            _ => None,
        })
    }

    fn set_length(&self, call: &Call<'_>, value: u32) -> Result<()> {
        self.set_body(call, |body| {
            let element = content(body)?;
            bounded(value, |length| Body::Array { length, element })
        })
    }

    fn element_type(&self, call: &Call<'_>) -> Result<TypeCode> {
        self.element_code(call)
    }

    fn element_type_def(&self, call: &Call<'_>) -> Result<Option<IdlType>> {
        self.content(call)
    }

    fn set_element_type_def(&self, call: &Call<'_>, value: Option<&IdlType>) -> Result<()> {
        self.set_content(call, value)
    }
}
