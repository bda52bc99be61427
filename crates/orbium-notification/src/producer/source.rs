// SPDX-License-Identifier: MIT OR Apache-2.0
//! Suppliers behind references, from which events are pulled.

use std::sync::Arc;
use std::time::Duration;

use orbium::{Interface, ObjectRef, SystemException};
use orbium_event::{DeliveryError, delivery_failure};

use crate::event::Body;
use crate::idl::cos_event_comm::{self as cos, DisconnectedError as CosError};
use crate::idl::cos_notify_channel_admin::ProxyType;
use crate::idl::cos_notify_comm::{self as notify, DisconnectedError as NotifyError};

/// Number of events that one call to a supplier of sequences requests.
const BATCH: i32 = 1000;

/// A pull supplier. Every method returns in bounded time, and is called without a lock.
pub(crate) trait Source: Send + Sync + 'static {
    /// The events that the supplier has, if it has any. It is not waited for them: a supplier that waits as well would give the next one
    /// to a call that has timed out.
    fn pull(&self) -> Result<Vec<Body>, DeliveryError>;

    /// Notifies the supplier that it was disconnected.
    fn disconnect(&self);
}

/// The pull supplier behind a reference for events of a form; `None` for forms that are pushed.
pub(crate) fn source_of(
    form: ProxyType,
    supplier: &ObjectRef,
    timeout: Duration,
) -> Option<Arc<dyn Source>> {
    macro_rules! source_of {
        ($interface:ty) => {
            Some(Arc::new(
                <$interface>::from_object(supplier.clone()).with_timeout(timeout),
            ))
        };
    }
    match form {
        ProxyType::PullAny => source_of!(cos::PullSupplier),
        ProxyType::PullStructured => source_of!(notify::StructuredPullSupplier),
        ProxyType::PullSequence => source_of!(notify::SequencePullSupplier),
        _ => None,
    }
}

macro_rules! source {
    ($supplier:ty, $error:ident, $disconnect:ident, |$it:ident| $pull:expr) => {
        impl Source for $supplier {
            fn pull(&self) -> Result<Vec<Body>, DeliveryError> {
                let $it = self;
                let events: Result<Vec<Body>, $error> = $pull;
                events.map_err(|error| match error {
                    $error::Disconnected(_) => DeliveryError::Gone,
                    $error::System(exception) => delivery_failure(&exception),
                })
            }

            fn disconnect(&self) {
                // It may not exist any more.
                let _: Result<(), SystemException> = self.$disconnect();
            }
        }
    };
}

source!(
    cos::PullSupplier,
    CosError,
    disconnect_pull_supplier,
    |supplier| supplier.try_pull().map(|tried| {
        let event = tried.has_event.then_some(tried.result);
        event.map(Body::Any).into_iter().collect()
    })
);
source!(
    notify::StructuredPullSupplier,
    NotifyError,
    disconnect_structured_pull_supplier,
    |supplier| supplier.try_pull_structured_event().map(|tried| {
        let event = tried.has_event.then_some(tried.result);
        event.map(Body::Structured).into_iter().collect()
    })
);
source!(
    notify::SequencePullSupplier,
    NotifyError,
    disconnect_sequence_pull_supplier,
    |supplier| supplier.try_pull_structured_events(BATCH).map(|tried| {
        let batch = tried.has_event.then_some(tried.result);
        batch.into_iter().flatten().map(Body::Structured).collect()
    })
);
