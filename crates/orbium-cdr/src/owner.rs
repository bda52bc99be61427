// SPDX-License-Identifier: MIT OR Apache-2.0
//! Owners of what is read.

use std::any::Any;
use std::sync::Arc;

/// The owner of what is read: carried through a reader so that object references met on the
/// way can be bound to their ORB. This crate looks inside for
/// [`OwnerWithValues`](crate::OwnerWithValues) alone.
pub type Owner = Arc<dyn Any + Send + Sync>;
