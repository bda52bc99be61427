// SPDX-License-Identifier: MIT OR Apache-2.0
//! The state of a value of any type.

use core::any::{Any, TypeId};
use core::fmt::Debug;

use orbium_cdr::CdrWriter;

/// The state of a value: a struct that contains that of its concrete base.
///
/// [`idl_value!`](crate::idl_value) implements it.
pub trait State: Debug + Send + Sync + 'static {
    /// The state of that type: the whole, or that of a base.
    fn part(&self, of: TypeId) -> Option<&dyn Any>;

    /// As [`State::part`].
    fn part_mut(&mut self, of: TypeId) -> Option<&mut dyn Any>;

    /// Writes the state, that of the base first.
    fn write(&self, writer: &mut CdrWriter<'_>);

    /// Resets the state to that of a new value.
    fn reset(&mut self);
}
