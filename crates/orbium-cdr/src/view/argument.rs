// SPDX-License-Identifier: MIT OR Apache-2.0
//! Stub arguments for parameters of which servants receive a view: the owned value or a view.

use std::array;

use crate::{CdrWriter, Encode, Fixed, WChar};

/// A value that can be sent in place of a `T`: `T` itself, or a view of one. For `[Entry]` of a
/// sequence, that is a slice, an array or a `Vec` of entries or of views.
pub trait AsArgument<T: ToOwned + ?Sized>: Encode + Sync {
    /// Writes the value as a `T`. Errors are noted in the writer.
    #[inline]
    fn write<'a>(&'a self, writer: &mut CdrWriter<'a>) {
        self.encode(writer);
    }

    /// A copy for a request that outlives the call of its stub.
    fn keep(&self) -> T::Owned;
}

impl<T: ToOwned + ?Sized, P: AsArgument<T> + ?Sized> AsArgument<T> for &P {
    fn write<'a>(&'a self, writer: &mut CdrWriter<'a>) {
        (**self).write(writer);
    }

    fn keep(&self) -> T::Owned {
        (**self).keep()
    }
}

impl AsArgument<String> for str {
    fn keep(&self) -> String {
        self.to_owned()
    }
}

impl AsArgument<String> for String {
    fn keep(&self) -> String {
        self.clone()
    }
}

impl AsArgument<WChar> for WChar {
    fn keep(&self) -> WChar {
        *self
    }
}

impl<const D: u16, const S: u16> AsArgument<Self> for Fixed<D, S> {
    fn keep(&self) -> Self {
        *self
    }
}

/// Copies of the elements of a sequence.
fn kept<T: Clone, P: AsArgument<T>>(items: &[P]) -> Vec<T> {
    items.iter().map(AsArgument::keep).collect()
}

impl<T: Clone, P: AsArgument<T>> AsArgument<[T]> for [P] {
    fn keep(&self) -> Vec<T> {
        kept(self)
    }
}

impl<T: Clone, P: AsArgument<T>> AsArgument<[T]> for Vec<P> {
    fn keep(&self) -> Vec<T> {
        kept(self)
    }
}

/// Written as a sequence, with a count, which an array does not have.
impl<T: Clone, P: AsArgument<T>, const N: usize> AsArgument<[T]> for [P; N] {
    fn write<'a>(&'a self, writer: &mut CdrWriter<'a>) {
        self.as_slice().encode(writer);
    }

    fn keep(&self) -> Vec<T> {
        kept(self)
    }
}

impl<T: Clone, P: AsArgument<T>> AsArgument<Vec<T>> for [P] {
    fn keep(&self) -> Vec<T> {
        kept(self)
    }
}

impl<T: Clone, P: AsArgument<T>> AsArgument<Vec<T>> for Vec<P> {
    fn keep(&self) -> Vec<T> {
        kept(self)
    }
}

impl<T: Clone, P: AsArgument<T>, const N: usize> AsArgument<[T; N]> for [P; N] {
    fn keep(&self) -> [T; N] {
        array::from_fn(|at| self[at].keep())
    }
}
