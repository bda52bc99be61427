// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests as interceptors see them.

use std::sync::Arc;

use orbium_core::Operation;
use orbium_interceptor::{DynamicInvocation, Returned};

use super::{Request, is_void};
use crate::body_struct::BodyValues;
use crate::invocation_facts::{of_call, parameters};
use crate::operations::interned;

impl Request {
    /// Makes a call of the operation, with facts of it if interceptors may ask for them.
    pub(super) fn intercepted<R>(
        &self,
        operation: &'static Operation,
        call: impl FnOnce(Option<&DynamicInvocation>) -> R,
    ) -> R {
        if !self.target.is_intercepted() {
            return call(None);
        }
        // The ids by which interceptors see the exceptions.
        for listed in &self.exceptions {
            let _ = interned(listed.unaliased().id());
        }
        let context = (&*self.context_names, self.contexts.as_ref());
        let facts = Arc::new(of_call(&self.arguments, &self.exceptions, context));
        facts.during(operation, || call(Some(&facts)))
    }

    /// Adds what the reply has to the facts.
    pub(super) fn show(&self, results: &BodyValues, facts: Option<&DynamicInvocation>) {
        let Some(facts) = facts else { return };
        let mut values = results.each.iter().cloned();
        let result = if is_void(&self.returns) {
            self.returned.clone()
        } else {
            values.next().unwrap_or_default()
        };
        let mut arguments = parameters(&self.arguments);
        let returned = arguments.iter_mut().zip(&self.arguments);
        for (parameter, _) in returned.filter(|(_, it)| it.direction.is_returned()) {
            parameter.argument = values.next().unwrap_or_default();
        }
        // A call that is made anew after a forward has one reply with results at most.
        let _ = facts.returned.set(Returned { result, arguments });
    }
}
