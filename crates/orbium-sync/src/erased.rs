// SPDX-License-Identifier: MIT OR Apache-2.0
//! A boxed value of any type, with a type check that needs no call.

use std::any::{Any, TypeId};
use std::fmt;

/// A boxed value of any type. [`Any`] determines the type of the value by a virtual call, which is
/// expensive for each request; here the type id is stored with the pointer.
///
/// ```
/// use orbium_sync::Erased;
///
/// let seven = Erased::new(7_u32);
/// assert_eq!(seven.downcast_ref(), Some(&7_u32));
/// assert!(seven.downcast_ref::<i32>().is_none());
/// ```
pub struct Erased {
    of: TypeId,
    value: Box<dyn Any + Send + Sync>,
}

impl Erased {
    /// Of a value.
    #[must_use]
    pub fn new<T: Send + Sync + 'static>(value: T) -> Self {
        Self {
            of: TypeId::of::<T>(),
            value: Box::new(value),
        }
    }

    /// The value, if it is of that type.
    #[must_use]
    #[inline(always)]
    #[allow(unsafe_code)]
    pub fn downcast_ref<T: 'static>(&self) -> Option<&T> {
        // SAFETY: `new` has boxed a value of the type with that id, and nothing replaces either.
        (self.of == TypeId::of::<T>()).then(|| unsafe { &*(&raw const *self.value).cast::<T>() })
    }

    /// Takes the value out, if it is of that type.
    ///
    /// # Errors
    /// This, if it is not.
    pub fn downcast<T: 'static>(self) -> Result<Box<T>, Self> {
        let of = self.of;
        let other = |value| Self { of, value };
        self.value.downcast().map_err(other)
    }
}

impl fmt::Debug for Erased {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Erased").field(&self.of).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_comes_back_as_its_own_type_alone() {
        let text = Erased::new(String::from("seven"));
        assert_eq!(text.downcast_ref::<String>().unwrap(), "seven");
        assert!(text.downcast_ref::<&str>().is_none());
        let text = text.downcast::<u8>().unwrap_err();
        assert_eq!(*text.downcast::<String>().unwrap(), "seven");
    }
}
