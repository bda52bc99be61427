// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bindings of a naming context, in batches.

use std::fmt;
use std::vec;

use orbium::{ExceptionKind, Interface, SystemException, policy::TimePolicies};

use crate::Name;
use crate::as_name::from_idl;
use crate::cos_naming;

/// Kind of a binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BindingKind {
    /// An object. It may be a context that was bound by `bind`: names are not resolved through it.
    Object,
    /// A naming context, through which names are resolved.
    Context,
}

/// A binding: a name and the kind of its object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Binding {
    /// The name, which has one component from well-behaved servers.
    pub name: Name,
    /// The kind of the bound object.
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
/// Bindings beyond the first batch stay at the server, in an iterator from which every further
/// batch is requested. It is destroyed after the last batch, or when this is dropped: both are
/// calls, with the time-out of the context's calls.
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
        // If a server announces more and sends none, the iteration ends.
        self.batch = more.bl.into_iter();
        if self.batch.len() == 0 {
            self.rest = None;
        }
        self.batch.next().map(|binding| Ok(binding.into()))
    }
}

/// Whether the iterator is unreachable, or does not exist any more.
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
