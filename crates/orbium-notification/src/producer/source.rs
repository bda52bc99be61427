// SPDX-License-Identifier: MIT OR Apache-2.0
//! Suppliers behind references, from which events are pulled.

use std::sync::Arc;
use std::time::Duration;

use orbium::{ExceptionKind, Interface, ObjectRef, SystemException};
use orbium_event::{DeliveryError, delivery_failure};

use crate::event::Body;
use crate::idl::cos_event_comm::{self as cos, DisconnectedError as CosError};
use crate::idl::cos_notify_channel_admin::ProxyType;
use crate::idl::cos_notify_comm::{self as notify, DisconnectedError as NotifyError};

/// Number of events that one call to a supplier of sequences requests.
const BATCH: i32 = 1000;

/// A pull supplier. Every method returns in bounded time, and is called without a lock.
pub(crate) trait Source: Send + Sync + 'static {
    /// Waits for events; returns none if the supplier has none within the time-out of a call.
    fn pull(&self) -> Result<Vec<Body>, DeliveryError>;

    /// Notifies the supplier that it was disconnected.
    fn disconnect(&self);
}

/// A supplier without an event in time has not failed.
fn pulled(exception: &SystemException) -> Result<Vec<Body>, DeliveryError> {
    match exception.kind {
        ExceptionKind::Timeout => Ok(Vec::new()),
        _ => Err(delivery_failure(exception)),
    }
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
                events.or_else(|error| match error {
                    $error::Disconnected(_) => Err(DeliveryError::Gone),
                    $error::System(exception) => pulled(&exception),
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
    |supplier| cos::PullSupplier::pull(supplier).map(|it| vec![Body::Any(it)])
);
source!(
    notify::StructuredPullSupplier,
    NotifyError,
    disconnect_structured_pull_supplier,
    |supplier| supplier
        .pull_structured_event()
        .map(|it| vec![Body::Structured(it)])
);
source!(
    notify::SequencePullSupplier,
    NotifyError,
    disconnect_sequence_pull_supplier,
    |supplier| {
        let batch = supplier.pull_structured_events(BATCH);
        batch.map(|it| it.into_iter().map(Body::Structured).collect())
    }
);
