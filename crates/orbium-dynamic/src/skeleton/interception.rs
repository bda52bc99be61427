// SPDX-License-Identifier: MIT OR Apache-2.0
//! Dynamic requests as interceptors see them: `receive_request` runs once the arguments are read,
//! or when an exception is set before.

use std::sync::Arc;

use orbium_core::{Call, DeferredReply, DispatchError, SystemException};
use orbium_interceptor::{DynamicInvocation, Interrupt};

use super::answer::Answer;
use crate::invocation_facts::{context_strings, of_request};

/// The operations of a request before its servant has returned.
pub(super) trait Upcall {
    /// Opens the token of the request.
    fn defer(&mut self) -> Result<DeferredReply<()>, DispatchError>;

    /// Runs `receive_request` of the interceptors.
    fn receive_request(&mut self) -> Result<(), Interrupt>;
}

/// The progress of interception of a request.
#[derive(Default)]
pub(super) struct Interception {
    has_run: bool,
    interrupt: Option<Interrupt>,
    facts: Option<Arc<DynamicInvocation>>,
}

impl Interception {
    /// Runs the interception point after the arguments are read, or without reading them.
    ///
    /// # Errors
    /// An interceptor has interrupted the request, which ends with its exception regardless of the
    /// servant.
    pub(super) fn run(
        &mut self,
        (call, answer, context): (&Call<'_>, &Answer, Option<&[(String, String)]>),
        upcall: &mut dyn Upcall,
    ) -> Result<(), SystemException> {
        if self.has_run {
            return Ok(());
        }
        self.has_run = true;
        let facts = || of_request(answer.arguments(), answer.signature.as_deref(), context);
        self.facts = call.describe(facts);
        upcall.receive_request().map_err(|interrupt| {
            let raised = match &interrupt {
                Interrupt::Raise(exception) => *exception,
                Interrupt::Forward(_) => orbium_core::ExceptionKind::Transient.into(),
            };
            self.interrupt = Some(interrupt);
            raised
        })
    }

    /// Passes the properties after the arguments to interceptors.
    pub(super) fn show_context(&self, properties: &[(String, String)]) {
        if let Some(facts) = &self.facts {
            // They are read once.
            let _ = facts.operation_context.set(context_strings(properties));
        }
    }

    /// Ends the interception after the servant has returned that answer.
    ///
    /// # Errors
    /// The exception or forward with which an interceptor has ended the request.
    pub(super) fn ended(self, answer: Answer) -> Result<Answer, Interrupt> {
        if let Some(interrupt) = self.interrupt {
            return Err(interrupt);
        }
        if let Some(facts) = &self.facts {
            answer.show(facts);
        }
        Ok(answer)
    }

    /// Whether an interceptor has interrupted the request.
    pub(super) fn is_interrupted(&self) -> bool {
        self.interrupt.is_some()
    }
}
