// SPDX-License-Identifier: MIT OR Apache-2.0
//! Facts of dynamic calls and requests for interceptors.

use std::sync::OnceLock;

use orbium_cdr::{Any, TypeCode};
use orbium_core::Properties;
use orbium_interceptor::{DynamicInvocation, Parameter, ParameterMode, ReplyTypes, Returned};

use crate::request::Argument;
use crate::signature::{Direction, Signature};

/// Arguments with their values.
pub(crate) fn parameters(arguments: &[Argument]) -> Vec<Parameter> {
    let parameter = |it: &Argument| Parameter {
        argument: it.value().clone(),
        mode: match it.direction() {
            Direction::In => ParameterMode::In,
            Direction::Out => ParameterMode::Out,
            Direction::InOut => ParameterMode::InOut,
        },
    };
    arguments.iter().map(parameter).collect()
}

/// The contents of a reply: `values` are the result, if there is one, and the returned arguments.
pub(crate) fn returned(mut arguments: Vec<Parameter>, values: Vec<Any>) -> Returned {
    let is_returned = |it: &&mut Parameter| it.mode != ParameterMode::In;
    let has_result = values.len() > arguments.iter_mut().filter(is_returned).count();
    let mut values = values.into_iter();
    let mut next = || values.next().unwrap_or_default();
    let result = if has_result { next() } else { Any::default() };
    for argument in arguments.iter_mut().filter(is_returned) {
        argument.argument = next();
    }
    Returned { result, arguments }
}

/// Alternating names and values.
pub(crate) fn context_strings(properties: &[(String, String)]) -> Vec<String> {
    let pairs = properties.iter().cloned();
    pairs.flat_map(|(name, value)| [name, value]).collect()
}

/// Facts of a call: `context` is sent after the arguments.
pub(crate) fn of_call(
    arguments: &[Argument],
    exceptions: &[TypeCode],
    reply: Box<dyn ReplyTypes>,
    (names, context): (&[String], Option<&Properties>),
) -> DynamicInvocation {
    DynamicInvocation {
        arguments: parameters(arguments),
        exceptions: Some(exceptions.to_vec()),
        contexts: Some(names.to_vec()),
        operation_context: OnceLock::from(context_strings(context.map_or(&[], |it| it))),
        reply: Some(reply),
        ..DynamicInvocation::default()
    }
}

/// Facts of a request, for an operation with that signature if the servant has specified it. With
/// one, everything after the arguments was read, too.
pub(crate) fn of_request(
    arguments: &[Argument],
    signature: Option<&Signature>,
    context: Option<&[(String, String)]>,
) -> DynamicInvocation {
    let context = context.or(signature.map(|_| &[][..]));
    DynamicInvocation {
        arguments: parameters(arguments),
        exceptions: signature.map(|it| it.exceptions.clone()),
        contexts: signature.map(|it| it.contexts.clone()),
        operation_context: context.map_or_else(OnceLock::new, |it| context_strings(it).into()),
        ..DynamicInvocation::default()
    }
}
