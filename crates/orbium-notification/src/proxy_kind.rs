// SPDX-License-Identifier: MIT OR Apache-2.0
//! Kinds of proxies.

use crate::idl::cos_notify_channel_admin::{ClientType, ProxyType};

/// The form of a proxy's events, and whether its interface is that of COS Event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProxyKind {
    pub(crate) form: ProxyType,
    pub(crate) is_cos_event: bool,
}

impl ProxyKind {
    /// A proxy of COS Event.
    pub(crate) const fn cos_event(form: ProxyType) -> Self {
        Self {
            form,
            is_cos_event: true,
        }
    }

    /// A proxy of COS Notification to which or from which events are pushed.
    pub(crate) const fn pushed(of: ClientType) -> Self {
        Self {
            form: match of {
                ClientType::AnyEvent => ProxyType::PushAny,
                ClientType::StructuredEvent => ProxyType::PushStructured,
                ClientType::SequenceEvent => ProxyType::PushSequence,
            },
            is_cos_event: false,
        }
    }

    /// A proxy of COS Notification from which or by which events are pulled.
    pub(crate) const fn pulled(of: ClientType) -> Self {
        Self {
            form: match of {
                ClientType::AnyEvent => ProxyType::PullAny,
                ClientType::StructuredEvent => ProxyType::PullStructured,
                ClientType::SequenceEvent => ProxyType::PullSequence,
            },
            is_cos_event: false,
        }
    }

    /// Whether events are pushed, to the consumer or by the supplier.
    pub(crate) const fn is_push(self) -> bool {
        matches!(
            self.form,
            ProxyType::PushAny | ProxyType::PushStructured | ProxyType::PushSequence
        )
    }

    /// Whether events are passed in batches.
    pub(crate) const fn is_sequence(self) -> bool {
        matches!(self.form, ProxyType::PushSequence | ProxyType::PullSequence)
    }
}
