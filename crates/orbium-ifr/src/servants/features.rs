// SPDX-License-Identifier: MIT OR Apache-2.0
//! Attributes and operations.

use orbium::{Call, Interface, TypeCode};

use crate::corba::{
    self, AttributeMode, ExceptionDef, ExceptionDescription, ExtAttributeDescription, IdlType,
    OperationMode, ParameterDescription, ParameterMode, PrimitiveKind,
};
use crate::edit::{self, Edit, Named, is_exception};
use crate::entry::{Attribute, Body, Key, Operation, Parameter, TypeDef, Way};
use crate::fault;
use crate::fault::Result;
use crate::objects::Objects;
use crate::view::{attribute_mode, operation_mode};

fn attribute(body: &Body) -> Result<&Attribute> {
    match body {
        Body::Attribute(it) => Ok(it),
        _ => Err(fault::GONE),
    }
}

fn operation(body: &Body) -> Result<&Operation> {
    match body {
        Body::Operation(it) => Ok(it),
        _ => Err(fault::GONE),
    }
}

impl Edit<'_> {
    /// The type of a parameter: not `void`, not an exception.
    fn parameter_type(&self, argument: Option<&IdlType>) -> Result<TypeDef> {
        let ty = self.member_type(argument);
        ty.map_err(|error| {
            if error == fault::BAD_MEMBER_TYPE {
                fault::BAD_PARAMETER_TYPE
            } else {
                error
            }
        })
    }

    fn parameters(&self, parameters: &[ParameterDescription]) -> Result<Vec<Parameter>> {
        let mut made = Vec::with_capacity(parameters.len());
        for parameter in parameters {
            made.push(Parameter {
                name: parameter.name.clone(),
                ty: self.parameter_type(parameter.type_def.as_ref())?,
                way: match parameter.mode {
                    ParameterMode::ParamIn => Way::In,
                    ParameterMode::ParamOut => Way::Out,
                    ParameterMode::ParamInout => Way::InOut,
                },
            });
        }
        edit::check_names(made.iter().map(|it| &*it.name))?;
        Ok(made)
    }

    /// The exceptions of descriptions, by their ids.
    pub(crate) fn described(&self, exceptions: &[ExceptionDescription]) -> Result<Vec<Key>> {
        let mut keys = Vec::with_capacity(exceptions.len());
        for exception in exceptions {
            let key = self.store.with_id(&exception.id);
            let key = key.ok_or(fault::BAD_ARGUMENT)?;
            if !is_exception(&self.store.entry(key)?.body) || keys.contains(&key) {
                return Err(fault::BAD_ARGUMENT);
            }
            keys.push(key);
        }
        Ok(keys)
    }

    fn set_attribute(&mut self, key: Key, change: impl FnOnce(&mut Attribute)) -> Result<()> {
        self.set(key, |body| {
            if let Body::Attribute(it) = body {
                change(it);
            }
        })
    }

    fn set_operation(&mut self, key: Key, change: impl FnOnce(&mut Operation)) -> Result<()> {
        self.set(key, |body| {
            if let Body::Operation(it) = body {
                change(it);
            }
        })?;
        check_oneway(operation(&self.store.entry(key)?.body)?)
    }
}

/// Checks that a oneway operation returns nothing.
fn check_oneway(it: &Operation) -> Result<()> {
    let returns = !it.result.is(PrimitiveKind::PkVoid)
        || it.parameters.iter().any(|it| it.way != Way::In)
        || !it.raises.is_empty();
    if it.oneway && returns {
        Err(fault::BAD_ONEWAY)
    } else {
        Ok(())
    }
}

/// The arguments of `create_operation`, for interfaces and values.
pub(super) struct NewOperation<'a> {
    pub(super) named: Named<'a>,
    pub(super) result: Option<&'a IdlType>,
    pub(super) mode: OperationMode,
    pub(super) params: &'a [ParameterDescription],
    pub(super) exceptions: &'a [Option<ExceptionDef>],
    pub(super) contexts: &'a [String],
}

/// The arguments of `create_attribute` and `create_ext_attribute`.
pub(super) struct NewAttribute<'a> {
    pub(super) named: Named<'a>,
    pub(super) ty: Option<&'a IdlType>,
    pub(super) mode: AttributeMode,
    pub(super) get_exceptions: &'a [Option<ExceptionDef>],
    pub(super) set_exceptions: &'a [Option<ExceptionDef>],
}

impl Objects {
    pub(super) fn new_operation<I: Interface>(
        &self,
        call: &Call<'_>,
        new: &NewOperation<'_>,
    ) -> Result<Option<I>> {
        self.write(call, |edit, container| {
            let operation = Operation {
                result: edit.ty(new.result)?,
                oneway: new.mode == OperationMode::OpOneway,
                parameters: edit.parameters(new.params)?,
                raises: edit.keys(new.exceptions, is_exception)?,
                contexts: new.contexts.to_vec(),
            };
            check_oneway(&operation)?;
            let key = edit.create(container, new.named, Body::Operation(operation))?;
            edit.reference(key)
        })
    }

    pub(super) fn new_attribute<I: Interface>(
        &self,
        call: &Call<'_>,
        new: &NewAttribute<'_>,
    ) -> Result<Option<I>> {
        self.write(call, |edit, container| {
            let attribute = Attribute {
                ty: edit.member_type(new.ty)?,
                readonly: new.mode == AttributeMode::AttrReadonly,
                get_raises: edit.keys(new.get_exceptions, is_exception)?,
                set_raises: edit.keys(new.set_exceptions, is_exception)?,
            };
            let key = edit.create(container, new.named, Body::Attribute(attribute))?;
            edit.reference(key)
        })
    }
}

impl corba::AttributeDefServant for Objects {
    fn r#type(&self, call: &Call<'_>) -> Result<TypeCode> {
        self.read(call, |view, key| {
            view.store.type_code(attribute(&view.entry(key)?.body)?.ty)
        })
    }

    fn type_def(&self, call: &Call<'_>) -> Result<Option<IdlType>> {
        self.read(call, |view, key| {
            view.type_reference(attribute(&view.entry(key)?.body)?.ty)
        })
    }

    fn set_type_def(&self, call: &Call<'_>, value: Option<&IdlType>) -> Result<()> {
        self.write(call, |edit, key| {
            let ty = edit.member_type(value)?;
            edit.set_attribute(key, |it| it.ty = ty)
        })
    }

    fn mode(&self, call: &Call<'_>) -> Result<AttributeMode> {
        self.read(call, |view, key| {
            Ok(attribute_mode(attribute(&view.entry(key)?.body)?.readonly))
        })
    }

    fn set_mode(&self, call: &Call<'_>, value: AttributeMode) -> Result<()> {
        self.write(call, |edit, key| {
            edit.set_attribute(key, |it| it.readonly = value == AttributeMode::AttrReadonly)
        })
    }
}

impl corba::ExtAttributeDefServant for Objects {
    fn get_exceptions(&self, call: &Call<'_>) -> Result<Vec<ExceptionDescription>> {
        self.read(call, |view, key| {
            view.exceptions(&attribute(&view.entry(key)?.body)?.get_raises)
        })
    }

    fn set_get_exceptions(&self, call: &Call<'_>, value: &[ExceptionDescription]) -> Result<()> {
        self.write(call, |edit, key| {
            let raises = edit.described(value)?;
            edit.set_attribute(key, |it| it.get_raises = raises)
        })
    }

    fn set_exceptions(&self, call: &Call<'_>) -> Result<Vec<ExceptionDescription>> {
        self.read(call, |view, key| {
            view.exceptions(&attribute(&view.entry(key)?.body)?.set_raises)
        })
    }

    fn set_set_exceptions(&self, call: &Call<'_>, value: &[ExceptionDescription]) -> Result<()> {
        self.write(call, |edit, key| {
            let raises = edit.described(value)?;
            edit.set_attribute(key, |it| it.set_raises = raises)
        })
    }

    fn describe_attribute(&self, call: &Call<'_>) -> Result<ExtAttributeDescription> {
        // A path to the method would be for one lifetime only.
        #[allow(clippy::redundant_closure_for_method_calls)]
        let described = self.read(call, |view, key| view.ext_attribute(key));
        described
    }
}

impl corba::OperationDefServant for Objects {
    fn result(&self, call: &Call<'_>) -> Result<TypeCode> {
        self.read(call, |view, key| {
            view.store
                .type_code(operation(&view.entry(key)?.body)?.result)
        })
    }

    fn result_def(&self, call: &Call<'_>) -> Result<Option<IdlType>> {
        self.read(call, |view, key| {
            view.type_reference(operation(&view.entry(key)?.body)?.result)
        })
    }

    fn set_result_def(&self, call: &Call<'_>, value: Option<&IdlType>) -> Result<()> {
        self.write(call, |edit, key| {
            let ty = edit.ty(value)?;
            edit.set_operation(key, |it| it.result = ty)
        })
    }

    fn params(&self, call: &Call<'_>) -> Result<Vec<ParameterDescription>> {
        self.read(call, |view, key| {
            view.parameters(&operation(&view.entry(key)?.body)?.parameters)
        })
    }

    fn set_params(&self, call: &Call<'_>, value: &[ParameterDescription]) -> Result<()> {
        self.write(call, |edit, key| {
            let parameters = edit.parameters(value)?;
            edit.set_operation(key, |it| it.parameters = parameters)
        })
    }

    fn mode(&self, call: &Call<'_>) -> Result<OperationMode> {
        self.read(call, |view, key| {
            Ok(operation_mode(operation(&view.entry(key)?.body)?.oneway))
        })
    }

    fn set_mode(&self, call: &Call<'_>, value: OperationMode) -> Result<()> {
        self.write(call, |edit, key| {
            edit.set_operation(key, |it| it.oneway = value == OperationMode::OpOneway)
        })
    }

    fn contexts(&self, call: &Call<'_>) -> Result<Vec<String>> {
        self.read(call, |view, key| {
            Ok(operation(&view.entry(key)?.body)?.contexts.clone())
        })
    }

    fn set_contexts(&self, call: &Call<'_>, value: &[String]) -> Result<()> {
        self.write(call, |edit, key| {
            edit.set_operation(key, |it| it.contexts = value.to_vec())
        })
    }

    fn exceptions(&self, call: &Call<'_>) -> Result<Vec<Option<ExceptionDef>>> {
        self.read(call, |view, key| {
            view.references(&operation(&view.entry(key)?.body)?.raises)
        })
    }

    fn set_exceptions(&self, call: &Call<'_>, value: &[Option<ExceptionDef>]) -> Result<()> {
        self.write(call, |edit, key| {
            let raises = edit.keys(value, is_exception)?;
            edit.set_operation(key, |it| it.raises = raises)
        })
    }
}
