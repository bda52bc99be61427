// SPDX-License-Identifier: MIT OR Apache-2.0
//! The channel object itself, independent of the delivery of events.

use orbium::{
    Call, ExceptionKind, Interface, Orb, SystemException,
    poa::{Poa, PoaError, Policies},
};

use crate::proxies::{adapter, end_objects, publish};
use crate::rtec::orbium_event::{ChannelState, MonitoredChannel, MonitoredChannelServant};
use crate::rtec::rtec_event_channel_admin::event_channel::{
    CantAppendObserver, CantRemoveObserver,
};
use crate::rtec::rtec_event_channel_admin::{
    ConsumerAdmin, EventChannelServant, Observer, ObserverHandle, SupplierAdmin,
    SynchronizationErrorOrCantAppendObserverError, SynchronizationErrorOrCantRemoveObserverError,
};

/// A channel behind an `RtecEventChannelAdmin::EventChannel`: that of this crate, and the
/// persistent one.
pub trait ServedChannel: Send + Sync + 'static {
    /// The counts of the channel.
    fn state(&self) -> ChannelState;

    /// Disconnects every peer.
    fn destroy(&self);

    /// Registers an observer and returns its handle; `None` if it is refused, which is the default.
    fn append_observer(&self, observer: &Observer) -> Option<ObserverHandle> {
        let _ = observer;
        None
    }

    /// Removes an observer; false if there is none with this handle.
    fn remove_observer(&self, handle: ObserverHandle) -> bool {
        let _ = handle;
        false
    }
}

/// Serves a channel under a key, with the admins that `activate` returns. The objects are in an
/// adapter `EventChannel/key` of their own, with the manager of the root POA, which is activated.
///
/// # Errors
/// [`PoaError`]: the ORB already serves a channel under that key, cannot listen, or is shut down;
/// the policies are invalid for an adapter with active objects.
pub fn serve_channel<C: ServedChannel>(
    channel: C,
    (orb, key, policies): (&Orb, &str, Policies),
    activate: impl FnOnce(&Poa) -> Result<(ConsumerAdmin, SupplierAdmin), PoaError>,
) -> Result<MonitoredChannel, PoaError> {
    let poa = adapter(orb, &format!("EventChannel/{key}"), policies)?;
    let (consumers, suppliers) = activate(&poa)?;
    let reference: MonitoredChannel = poa.activate(ChannelObject {
        channel,
        consumers,
        suppliers,
    })?;
    publish(orb, key, &reference)?;
    Ok(reference)
}

struct ChannelObject<C> {
    channel: C,
    consumers: ConsumerAdmin,
    suppliers: SupplierAdmin,
}

impl<C: ServedChannel> EventChannelServant for ChannelObject<C> {
    fn for_consumers(&self, _: &Call<'_>) -> Result<Option<ConsumerAdmin>, SystemException> {
        Ok(Some(self.consumers.clone()))
    }

    fn for_suppliers(&self, _: &Call<'_>) -> Result<Option<SupplierAdmin>, SystemException> {
        Ok(Some(self.suppliers.clone()))
    }

    fn destroy(&self, call: &Call<'_>) -> Result<(), SystemException> {
        self.channel.destroy();
        end_objects(
            call,
            [self.consumers.as_object(), self.suppliers.as_object()],
        );
        Ok(())
    }

    fn append_observer(
        &self,
        _: &Call<'_>,
        gw: Option<&Observer>,
    ) -> Result<ObserverHandle, SynchronizationErrorOrCantAppendObserverError> {
        let nil = SystemException::from(ExceptionKind::BadParam);
        let appended = self.channel.append_observer(gw.ok_or(nil)?);
        appended.ok_or(CantAppendObserver {}.into())
    }

    fn remove_observer(
        &self,
        _: &Call<'_>,
        handle: ObserverHandle,
    ) -> Result<(), SynchronizationErrorOrCantRemoveObserverError> {
        if self.channel.remove_observer(handle) {
            Ok(())
        } else {
            Err(CantRemoveObserver {}.into())
        }
    }
}

impl<C: ServedChannel> MonitoredChannelServant for ChannelObject<C> {
    fn state(&self, _: &Call<'_>) -> Result<ChannelState, SystemException> {
        Ok(self.channel.state())
    }
}
