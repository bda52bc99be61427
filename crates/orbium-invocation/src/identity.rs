// SPDX-License-Identifier: MIT OR Apache-2.0
//! Equality by identity.

/// Implements equality and hashing by identity for a type around an `Arc`.
#[doc(hidden)]
#[macro_export]
macro_rules! equal_if_same {
    ($name:ty) => {
        impl ::std::cmp::PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                ::std::sync::Arc::ptr_eq(&self.0, &other.0)
            }
        }

        impl ::std::cmp::Eq for $name {}

        impl ::std::hash::Hash for $name {
            fn hash<H: ::std::hash::Hasher>(&self, state: &mut H) {
                ::std::hash::Hash::hash(&::std::sync::Arc::as_ptr(&self.0).cast::<()>(), state);
            }
        }
    };
}
