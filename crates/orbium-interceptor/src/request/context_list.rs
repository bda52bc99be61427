// SPDX-License-Identifier: MIT OR Apache-2.0
//! Service contexts to be sent with a message.

use std::sync::Arc;

use orbium_giop::{ServiceContext, ServiceContexts, SystemException};
use orbium_sync::lock::Mutex;

use crate::errors::{context_exists, no_such_context};

/// A service context that owns its data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnedContext {
    /// The kind of the data.
    pub id: u32,
    /// The data, usually an encapsulation.
    pub data: Vec<u8>,
}

/// The service contexts of a message; no allocation while it is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContextList(Vec<OwnedContext>);

/// Store of the service contexts of replies, for a caller that requests them.
#[derive(Clone, Debug, Default)]
pub struct ReplyContexts(Arc<Mutex<ContextList>>);

impl ReplyContexts {
    /// The contexts of the last reply; with concurrent calls, of any of them.
    #[must_use]
    pub fn get(&self) -> ContextList {
        self.0.lock().clone()
    }

    /// Stores the contexts of a reply.
    pub fn set(&self, contexts: ContextList) {
        *self.0.lock() = contexts;
    }
}

impl ContextList {
    /// The contexts of a received message.
    #[must_use]
    pub fn of(contexts: &ServiceContexts<'_>) -> Self {
        let owned = |it: ServiceContext<'_>| OwnedContext {
            id: it.id,
            data: it.data.to_vec(),
        };
        Self(contexts.iter().map(owned).collect())
    }

    /// The contexts of a message without any.
    #[must_use]
    #[inline]
    pub fn none() -> &'static Self {
        static NONE: ContextList = ContextList(Vec::new());
        &NONE
    }

    /// Adds a context.
    ///
    /// # Errors
    /// BAD_INV_ORDER 15 if there is one with that id, unless `replace` is set.
    pub fn add(&mut self, id: u32, data: Vec<u8>, replace: bool) -> Result<(), SystemException> {
        if !replace && self.get(id).is_ok() {
            return Err(context_exists());
        }
        self.set(id, data);
        Ok(())
    }

    /// Adds a context, which replaces one with the same id.
    pub fn set(&mut self, id: u32, data: Vec<u8>) {
        match self.0.iter_mut().find(|it| it.id == id) {
            Some(old) => old.data = data,
            None => self.0.push(OwnedContext { id, data }),
        }
    }

    /// Adds all contexts of another list, which replace those with the same ids.
    pub fn extend(&mut self, others: Self) {
        for OwnedContext { id, data } in others.0 {
            self.set(id, data);
        }
    }

    /// The data of the context with that id.
    ///
    /// # Errors
    /// BAD_PARAM 26 if there is none.
    pub fn get(&self, id: u32) -> Result<&[u8], SystemException> {
        let found = self.0.iter().find(|it| it.id == id);
        Ok(&found.ok_or(no_such_context())?.data)
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All contexts, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = &OwnedContext> {
        self.0.iter()
    }

    /// The contexts in the form for writing headers.
    #[must_use]
    pub fn borrowed(&self) -> Vec<ServiceContext<'_>> {
        let mut lent = Vec::with_capacity(self.0.len());
        for OwnedContext { id, data } in &self.0 {
            lent.push(ServiceContext { id: *id, data });
        }
        lent
    }
}
