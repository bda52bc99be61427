// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests as interceptors see them.

use std::sync::Arc;

use orbium_core::Operation;
use orbium_interceptor::DynamicInvocation;

use super::Request;
use super::reply_body::ReplyBody;
use crate::body_struct::BodyValues;
use crate::invocation_facts::{of_call, returned};
use crate::operations::interned;

impl Request {
    /// Makes a call of the operation, with facts about it if interceptors may use them.
    pub(super) fn intercepted<R>(
        &self,
        operation: &'static Operation,
        call: impl FnOnce(Option<&DynamicInvocation>) -> R,
    ) -> R {
        if !self.target.is_intercepted() {
            return call(None);
        }
        // The ids of the exceptions for interceptors.
        for listed in &self.exceptions {
            let _ = interned(listed.unaliased().id());
        }
        let context = (&*self.context_names, self.contexts.as_ref());
        let members = self.reply_members();
        let reply = Box::new(ReplyBody {
            results: members
                .map(|(name, code)| (name.to_owned(), code))
                .collect(),
            exceptions: self.exceptions.clone(),
        });
        let facts = Arc::new(of_call(&self.arguments, &self.exceptions, reply, context));
        facts.during(operation, || call(Some(&facts)))
    }

    /// Adds the contents of the reply to the facts.
    pub(super) fn show(&self, results: &BodyValues, facts: Option<&DynamicInvocation>) {
        if let Some(facts) = facts {
            let values = results.each.clone();
            facts
                .returned
                .set(returned(facts.arguments.clone(), values));
        }
    }
}
