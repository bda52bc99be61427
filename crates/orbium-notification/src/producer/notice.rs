// SPDX-License-Identifier: MIT OR Apache-2.0
//! Notifications of suppliers that they were disconnected.

use std::time::Duration;

use orbium::{Interface, ObjectRef};

use crate::idl::cos_event_comm as cos;
use crate::idl::cos_notify_channel_admin::ProxyType;
use crate::idl::cos_notify_comm as notify;
use crate::producer::Notify;

/// The closure that notifies a supplier of events of a form, which may not exist any more.
pub(crate) fn notice(form: ProxyType, supplier: &ObjectRef, timeout: Duration) -> Option<Notify> {
    macro_rules! notice {
        ($interface:ty, $disconnect:ident) => {{
            let supplier = <$interface>::from_object(supplier.clone()).with_timeout(timeout);
            Some(Box::new(move || {
                let _ = supplier.$disconnect();
            }))
        }};
    }
    match form {
        ProxyType::PushAny => notice!(cos::PushSupplier, disconnect_push_supplier),
        ProxyType::PushStructured => notice!(
            notify::StructuredPushSupplier,
            disconnect_structured_push_supplier
        ),
        ProxyType::PushSequence => notice!(
            notify::SequencePushSupplier,
            disconnect_sequence_push_supplier
        ),
        _ => None,
    }
}
