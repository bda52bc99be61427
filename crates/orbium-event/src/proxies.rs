// SPDX-License-Identifier: MIT OR Apache-2.0
//! Common part of the proxies of all interfaces: they are in an adapter of their channel; their
//! number is bounded, and each is the object of one remote peer.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use orbium::lock::{Mutex, MutexGuard};
use orbium::{
    Call, ExceptionKind, Interface, ObjectRef, Orb, SystemException,
    poa::{Poa, PoaError, Policies},
};

use crate::delivery::health::DeliveryError;
use crate::peer::OnEnd;

/// The number of existing proxies of one kind.
#[derive(Clone, Default)]
pub(crate) struct ProxyCount(Arc<AtomicUsize>);

/// Counts one proxy until it is dropped.
pub(crate) struct Counted(ProxyCount);

impl ProxyCount {
    /// Counts one more, unless the maximum is reached: IMP_LIMIT.
    pub(crate) fn one_more(&self, most: usize) -> Result<Counted, SystemException> {
        let counted = Counted(self.clone());
        if self.0.fetch_add(1, Ordering::Relaxed) < most {
            Ok(counted)
        } else {
            Err(ExceptionKind::ImpLimit.into())
        }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The connection of a proxy.
pub(crate) struct Slot<T> {
    connection: Mutex<Option<T>>,
    _counted: Counted,
}

impl<T> Slot<T> {
    pub(crate) fn new(counted: Counted) -> Self {
        Self {
            connection: Mutex::new(None),
            _counted: counted,
        }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Option<T>> {
        self.connection.lock()
    }
}

/// Deactivates the object of a proxy when its connection ends.
pub(crate) fn deactivation(call: &Call<'_>) -> OnEnd {
    let (poa, id) = (call.poa(), call.object_id().to_vec());
    Box::new(move || end_object(&poa, &id))
}

pub(crate) fn end_object(poa: &Poa, id: &[u8]) {
    // It may have been deactivated already, with its adapter.
    let _ = poa.deactivate(id);
}

/// An adapter for the objects of a channel, with the manager of the root POA.
pub(crate) fn adapter(orb: &Orb, name: &str, policies: Policies) -> Result<Poa, PoaError> {
    let root = orb.root_poa();
    root.create_poa(name, Some(root.manager()), policies)
}

/// Lets clients reach a channel: under a key, and by its reference.
pub(crate) fn publish(orb: &Orb, key: &str, channel: &impl Interface) -> Result<(), PoaError> {
    orb.bind_key(key, channel)?;
    orb.root_poa().manager().activate()?;
    Ok(())
}

/// Deactivates the object of the called channel, and its admins.
pub(crate) fn end_objects(call: &Call<'_>, admins: [&ObjectRef; 2]) {
    let poa = call.poa();
    for admin in admins {
        if let Ok(id) = poa.reference_to_id(admin) {
            end_object(&poa, &id);
        }
    }
    end_object(&poa, call.object_id());
}

/// Checks whether the object of a peer exists.
///
/// # Errors
/// [`DeliveryError`]: it does not, or cannot be reached.
pub fn ping(object: &ObjectRef) -> Result<(), DeliveryError> {
    match object.non_existent() {
        Ok(false) => Ok(()),
        Ok(true) => Err(DeliveryError::Gone),
        Err(exception) => Err(failure(&exception)),
    }
}

/// The failure of the peer for the exception of a push or a ping.
#[must_use]
pub fn failure(exception: &SystemException) -> DeliveryError {
    match exception.kind {
        ExceptionKind::ObjectNotExist => DeliveryError::Gone,
        ExceptionKind::Transient => DeliveryError::Unreachable,
        ExceptionKind::BadParam | ExceptionKind::Marshal => DeliveryError::Refused,
        _ => DeliveryError::Failed,
    }
}
