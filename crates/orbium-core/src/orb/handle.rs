// SPDX-License-Identifier: MIT OR Apache-2.0
//! The handle of an ORB. References and adapters hold it, and are parts of the ORB, so the handle
//! does not name the type of its state.

use std::any::Any;
use std::sync::Arc;

/// An Object Request Broker: a value; any number can exist in one process. Cheap to clone; clones
/// are handles of the same ORB.
///
/// ```
/// use orbium_core::Orb;
///
/// let orb = Orb::builder().endpoint("iiop://127.0.0.1:0")?.build()?;
/// println!("listening at {:?}", orb.addresses()?);
/// orb.shutdown(true)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Orb(pub(super) Arc<dyn Any + Send + Sync>);

impl PartialEq for Orb {
    fn eq(&self, other: &Self) -> bool {
        // The same value may have several vtables.
        std::ptr::addr_eq(Arc::as_ptr(&self.0), Arc::as_ptr(&other.0))
    }
}
