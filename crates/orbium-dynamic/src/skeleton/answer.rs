// SPDX-License-Identifier: MIT OR Apache-2.0
//! Answer of a dynamic servant, at once or later.

use std::sync::Arc;

use orbium_cdr::{Any, TCKind};
use orbium_core::{
    Completion, DispatchError, ExceptionKind, ForwardRequest, SystemException, UntypedReply,
};
use orbium_giop::ReplyStatus;
use orbium_interceptor::{DynamicInvocation, Returned};

use crate::body_struct::{self, member_types};
use crate::invocation_facts::{parameters, returned};
use crate::request::{Argument, is_void};
use crate::signature::Signature;

/// The arguments of a request and its reply as set so far.
#[derive(Default)]
pub(super) struct Answer {
    /// The signature of the operation, if the servant has specified it.
    pub(super) signature: Option<Arc<Signature>>,
    /// Set once the servant has requested them.
    pub(super) arguments: Option<Vec<Argument>>,
    /// The received arguments as one struct, if they may share values.
    pub(super) received_struct: Option<Any>,
    result: Option<Any>,
    /// All returned values as one struct, if they were set so.
    results: Option<Any>,
    exception: Option<Any>,
    forward: Option<ForwardRequest>,
}

impl Answer {
    /// The arguments that were read; none before.
    pub(super) fn arguments(&self) -> &[Argument] {
        self.arguments.as_deref().unwrap_or_default()
    }

    pub(super) fn received(&self) -> Result<Any, SystemException> {
        let arguments = self.arguments.as_ref().ok_or_else(|| wrong_order(7))?;
        if let Some(received) = &self.received_struct {
            return Ok(received.clone());
        }
        let sent = arguments.iter().filter(|it| it.direction().is_sent());
        let joined = body_struct::join(sent.map(|it| (it.name(), it.value())));
        joined.map_err(|error| SystemException::from_cdr(error, Completion::No))
    }

    pub(super) fn set_argument(&mut self, index: usize, value: Any) -> Result<(), SystemException> {
        let arguments = self.arguments.as_mut().ok_or_else(|| wrong_order(7))?;
        let argument = arguments.get_mut(index);
        let set = argument.is_some_and(|argument| argument.set(value));
        fits(set)
    }

    pub(super) fn set_result(&mut self, value: Any) -> Result<(), SystemException> {
        self.check_unanswered()?;
        let code = value.type_code();
        let is_of = |signature: &Arc<Signature>| {
            if is_void(&signature.returns) {
                is_void(code)
            } else {
                code.equivalent(&signature.returns)
            }
        };
        fits(self.signature.as_ref().is_none_or(is_of))?;
        self.result = Some(value);
        Ok(())
    }

    pub(super) fn set_results(&mut self, results: Any) -> Result<(), SystemException> {
        self.check_unanswered()?;
        let arguments = self.arguments.iter().flatten();
        let returned = arguments.filter(|it| it.direction().is_returned());
        let returned: Vec<_> = returned.map(Argument::type_code).collect();
        let code = results.type_code().unaliased();
        let members: Vec<_> = member_types(code.as_ref()).collect();
        let rest = members.len().checked_sub(returned.len());
        let has_result = |rest: usize| match &self.signature {
            Some(signature) => rest == usize::from(!is_void(&signature.returns)),
            None => rest <= 1,
        };
        fits(
            code.kind() == TCKind::Struct
                && rest.is_some_and(has_result)
                && members[rest.unwrap_or(0)..]
                    .iter()
                    .zip(&returned)
                    .all(|(member, code)| member.to_type_code().equivalent(code)),
        )?;
        self.results = Some(results);
        Ok(())
    }

    pub(super) fn has_result(&self) -> bool {
        self.result.is_some() || self.results.is_some()
    }

    pub(super) fn has_exception(&self) -> bool {
        self.exception.is_some()
    }

    fn check_unanswered(&self) -> Result<(), SystemException> {
        let is_answered = self.has_result() || self.has_exception();
        if self.arguments.is_none() || is_answered {
            Err(wrong_order(9))
        } else {
            Ok(())
        }
    }

    pub(super) fn set_exception(&mut self, exception: Any) -> Result<(), SystemException> {
        let code = exception.type_code().unaliased();
        if code.kind() != TCKind::Except {
            return Err(bad_param(21));
        }
        let is_listed = |signature: &Arc<Signature>| {
            let mut listed = signature.exceptions.iter();
            listed.any(|it| it.unaliased().id() == code.id())
        };
        if !self.signature.as_ref().is_none_or(is_listed) {
            return Err(bad_param(22));
        }
        self.exception = Some(exception);
        Ok(())
    }

    pub(super) fn set_forward(&mut self, to: ForwardRequest) {
        self.forward = Some(to);
    }

    /// Whether the request is read completely.
    pub(super) fn is_read(&self) -> bool {
        self.arguments.is_some() || !self.has_results()
    }

    /// Whether the reply has results.
    pub(super) fn has_results(&self) -> bool {
        !self.has_exception() && self.forward.is_none()
    }

    /// Passes the reply to interceptors.
    pub(super) fn show(&self, facts: &DynamicInvocation) {
        if let Some(exception) = &self.exception {
            facts.raised.set(exception.clone());
        } else if self.forward.is_none() {
            facts.returned.set(self.returned());
        }
    }

    /// The results of the reply.
    fn returned(&self) -> Returned {
        let arguments = parameters(self.arguments());
        match &self.results {
            Some(results) => returned(arguments, body_struct::split(results).unwrap_or_default()),
            None => Returned {
                result: self.result.clone().unwrap_or_default(),
                arguments,
            },
        }
    }

    /// Writes the reply.
    pub(super) fn give(self, reply: &mut UntypedReply<'_>) -> Result<(), DispatchError> {
        if let Some(forward) = &self.forward {
            return reply.forward(forward.to.ior(), forward.permanent);
        }
        if let Some(exception) = &self.exception {
            return if reply.is_expected() {
                reply.say(ReplyStatus::UserException, &mut |writer| {
                    // With the repository id before the members, as in an any.
                    exception.write_value(writer);
                })
            } else {
                // A oneway has no reply.
                reply.result(|_| {})
            };
        }
        let results = self.into_results()?;
        reply.result(|writer| {
            for value in &results {
                value.write_value(writer);
            }
        })
    }

    /// The result, then the returned arguments.
    fn into_results(self) -> Result<Vec<Any>, SystemException> {
        if let Some(results) = self.results {
            return Ok(vec![results]);
        }
        let arguments = self.arguments.ok_or_else(|| wrong_order(7))?;
        let returned = arguments
            .into_iter()
            .filter(|it| it.direction().is_returned());
        let returned: Vec<_> = returned.map(Argument::into_value).collect();
        let is_void = |signature: &Arc<Signature>| is_void(&signature.returns);
        let lacks_result = self.result.is_none() && !self.signature.as_ref().is_none_or(is_void);
        // An `out` argument that was not set has no value to send.
        let is_unset = |value: &Any| value.type_code().kind() == TCKind::Null;
        if lacks_result || returned.iter().any(is_unset) {
            Err(SystemException::new(
                ExceptionKind::BadParam,
                0,
                Completion::Yes,
            ))
        } else {
            Ok(self.result.into_iter().chain(returned).collect())
        }
    }
}

/// BAD_INV_ORDER with a code of the standard.
pub(super) fn wrong_order(minor: u32) -> SystemException {
    SystemException::omg(ExceptionKind::BadInvOrder, minor, Completion::Maybe)
}

/// BAD_PARAM for a value of another type than required.
fn fits(does: bool) -> Result<(), SystemException> {
    if does {
        Ok(())
    } else {
        Err(SystemException::new(
            ExceptionKind::BadParam,
            0,
            Completion::Maybe,
        ))
    }
}

/// BAD_PARAM with a code of the standard.
fn bad_param(minor: u32) -> SystemException {
    SystemException::omg(ExceptionKind::BadParam, minor, Completion::Maybe)
}
