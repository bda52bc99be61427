// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bindings of a naming context, batch by batch.

use std::fmt;
use std::vec;

use orbium::{ExceptionKind, Interface, SystemException, policy::TimePolicies};

use crate::Name;
use crate::as_name::from_idl;
use crate::cos_naming;

/// Kind of a binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BindingKind {
    /// An object. It may be a context that was bound by `bind`: names do not lead through it.
    Object,
    /// A naming context, through which names lead.
    Context,
}

/// A name, and what is bound to it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Binding {
    /// Of one component, from well-behaved servers.
    pub name: Name,
    /// What is bound.
    pub kind: BindingKind,
}

impl From<cos_naming::Binding> for Binding {
    fn from(binding: cos_naming::Binding) -> Self {
        Self {
            name: from_idl(binding.binding_name),
            kind: match binding.binding_type {
                cos_naming::BindingType::Nobject => BindingKind::Object,
                cos_naming::BindingType::Ncontext => BindingKind::Context,
            },
        }
    }
}

/// The bindings of a context, from [`NamingContext::list`](crate::NamingContext::list).
///
/// What does not fit the first batch stays at the server, in an iterator that every further
/// batch is asked of. It is destroyed after the last batch, or when this is dropped: both
/// are calls, bounded in time as those of the context are.
///
/// An error ends the iteration.
pub struct Bindings {
    batch: vec::IntoIter<cos_naming::Binding>,
    rest: Option<Rest>,
    size: u32,
}

impl Bindings {
    pub(crate) fn new(
        listed: cos_naming::NamingContextListResults,
        size: u32,
        times: TimePolicies,
    ) -> Self {
        Self {
            batch: listed.bl.into_iter(),
            rest: listed.bi.map(|iterator| Rest {
                iterator: iterator.with_time_policies(times),
                is_lost: false,
            }),
            size,
        }
    }

    /// The first of the next batch.
    fn next_batch(&mut self) -> Option<Result<Binding, SystemException>> {
        let mut rest = self.rest.take()?;
        let more = match rest.iterator.next_n(self.size) {
            Ok(more) => more,
            Err(exception) => {
                rest.is_lost = is_lost(exception);
                return Some(Err(exception));
            }
        };
        if more.result {
            self.rest = Some(rest);
        }
        // From a server that says there is more and sends none, nothing more is asked.
        self.batch = more.bl.into_iter();
        if self.batch.len() == 0 {
            self.rest = None;
        }
        self.batch.next().map(|binding| Ok(binding.into()))
    }
}

/// Whether the iterator cannot be reached, or is there no longer.
fn is_lost(exception: SystemException) -> bool {
    matches!(
        exception.kind,
        ExceptionKind::ObjectNotExist
            | ExceptionKind::CommFailure
            | ExceptionKind::Timeout
            | ExceptionKind::Transient
    )
}

impl Iterator for Bindings {
    type Item = Result<Binding, SystemException>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.batch.next() {
            Some(binding) => Some(Ok(binding.into())),
            None => self.next_batch(),
        }
    }
}

impl std::iter::FusedIterator for Bindings {}

impl fmt::Debug for Bindings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bindings")
            .field("here", &self.batch.len())
            .field("more", &self.rest.is_some())
            .finish()
    }
}

/// The iterator at the server, and whether it is to be destroyed.
struct Rest {
    iterator: cos_naming::BindingIterator,
    is_lost: bool,
}

impl Drop for Rest {
    fn drop(&mut self) {
        if !self.is_lost {
            // The server may have destroyed it.
            let _ = self.iterator.destroy();
        }
    }
}
