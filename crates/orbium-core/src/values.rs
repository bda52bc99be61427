// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values of IDL's value types, with the feature `values`.

pub mod portable_interceptor;

use orbium_value::{Factories, ValueBase, ValueOwner, ValueType};

use crate::{Orb, SystemException, not_implemented};

impl Orb {
    /// The factories of values in received requests and replies.
    #[must_use]
    pub fn value_factories(&self) -> &Factories {
        match ValueOwner::factories(self.owner()) {
            Some(factories) => factories,
            None => unreachable!("the owner is made with factories in `new`"),
        }
    }
}

/// The operations of a value.
///
/// # Errors
/// NO_IMPLEMENT if no factory has set them.
#[inline]
pub fn operations<O: ?Sized + 'static>(
    value: &ValueBase,
) -> Result<&std::sync::Arc<O>, SystemException> {
    value.operations().ok_or_else(not_implemented)
}

/// The value typed by `V`, its own type or a base.
#[inline]
pub fn upcast<V: ValueType>(value: &ValueBase) -> V {
    V::wrap(value.clone())
}
