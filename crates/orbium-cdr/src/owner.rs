// SPDX-License-Identifier: MIT OR Apache-2.0
//! Owners of decoded data.

use std::any::Any;
use std::sync::Arc;

/// The owner of decoded data: carried through a reader so that decoded object references can be
/// bound to their ORB. This crate only accesses [`OwnerWithValues`](crate::OwnerWithValues) in it.
pub type Owner = Arc<dyn Any + Send + Sync>;
