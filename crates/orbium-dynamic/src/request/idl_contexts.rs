// SPDX-License-Identifier: MIT OR Apache-2.0
//! Properties of requests for operations with a `context` clause.

use orbium_core::{Context, SystemException};

use super::Request;

impl Request {
    /// Sets the properties that are sent after the arguments, for an operation with a `context`
    /// clause. An empty list is sent as such.
    ///
    /// # Errors
    /// BAD_INV_ORDER 10: the request was invoked before.
    pub fn set_contexts(
        &mut self,
        properties: impl IntoIterator<Item = (String, String)>,
    ) -> Result<(), SystemException> {
        self.check_fresh()?;
        self.contexts = Some(properties.into_iter().collect());
        Ok(())
    }

    /// Adds a name to the `context` clause of the operation; a trailing `*` matches all names with
    /// that prefix. With any name, a list of properties is sent: an empty one until
    /// [`set_context`](Self::set_context). [`Request::of`] sets the clause.
    ///
    /// # Errors
    /// BAD_INV_ORDER 10: the request was invoked before.
    pub fn add_context_name(&mut self, name: &str) -> Result<(), SystemException> {
        self.check_fresh()?;
        self.context_names.push(name.to_owned());
        self.contexts.get_or_insert_default();
        Ok(())
    }

    /// Sends the current properties of a context that the `context` clause names; none without a
    /// clause.
    ///
    /// # Errors
    /// BAD_INV_ORDER 10: the request was invoked before. BAD_PARAM 36: a name of the clause is
    /// invalid.
    pub fn set_context(&mut self, context: &Context) -> Result<(), SystemException> {
        self.check_fresh()?;
        if self.contexts.is_some() {
            let names = self.context_names.iter().map(String::as_str);
            self.contexts = Some(context.properties(names)?);
        }
        Ok(())
    }
}
