// SPDX-License-Identifier: MIT OR Apache-2.0
//! Boxed reader and writer state that few messages need.

/// Optional boxed state that few messages need. It is dropped out of line, so that readers and
/// writers without it, the common case, pay for one test.
#[derive(Debug)]
pub(crate) struct BoxedState<T: ?Sized>(Option<Box<T>>);

impl<T: ?Sized> BoxedState<T> {
    pub(crate) const NONE: Self = Self(None);

    pub(crate) fn new(value: Box<T>) -> Self {
        Self(Some(value))
    }

    pub(crate) fn get(&self) -> Option<&T> {
        self.0.as_deref()
    }

    pub(crate) fn get_mut(&mut self) -> Option<&mut T> {
        self.0.as_deref_mut()
    }
}

impl<T: ?Sized> Default for BoxedState<T> {
    fn default() -> Self {
        Self::NONE
    }
}

impl<T: ?Sized> Drop for BoxedState<T> {
    #[inline]
    fn drop(&mut self) {
        if let Some(value) = self.0.take() {
            drop_boxed(value);
        }
    }
}

#[cold]
fn drop_boxed<T: ?Sized>(value: Box<T>) {
    drop(value);
}
