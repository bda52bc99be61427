// SPDX-License-Identifier: MIT OR Apache-2.0
//! References with a `Qos`.

use orbium_core::{Interface, ProtocolPolicy};
use orbium_giop::{real_time, service_context};

use crate::riop::{self, RIOP_CONTEXT};
use crate::{CommunicationClass, Qos, QosError};
use crate::{published, sockets};

/// Quality of service of references, including typed ones.
pub trait QosObject: Interface {
    /// The same object, called with that quality of service: its connections and sockets are those
    /// of the communication class, its calls end at the deadline, and its requests carry the
    /// priority (`RTCorbaPriority`, for servers of any vendor) and RIOP's context. Use the new
    /// reference for all such calls: its connections belong to it.
    ///
    /// # Errors
    /// [`QosError`]: the fields are inconsistent.
    fn with_qos(&self, qos: &Qos) -> Result<Self, QosError> {
        qos.check()?;
        let mut object = self.as_object().clone();
        if let Some(class) = qos.class {
            let base = object.orb().config().properties;
            object = object.with_properties(sockets::properties(class, qos, base));
            if sockets::is_private(class) {
                object = object.with_private_connections();
            }
            if let (CommunicationClass::Message, Some(priority)) = (class, qos.priority) {
                object = object.with_connections_of(priority);
            }
            if class == CommunicationClass::Isochronous
                && qos.loss != Some(0)
                && let Some(policy) = datagrams_first(&object)
            {
                object = object.with_protocols(policy);
            }
        }
        if let Some(deadline) = qos.deadline {
            object = object.with_timeout(deadline);
        }
        if let Some(priority) = qos.priority {
            let data = real_time::priority_context(priority.number());
            object = object.with_service_context(service_context::RT_CORBA_PRIORITY, data);
        }
        if qos.is_carried() {
            object = object.with_service_context(RIOP_CONTEXT, riop::encode(qos)?);
        }
        Ok(Self::from_object(object))
    }

    /// The quality of service in the reference itself, added by a server with
    /// [`PublishedQos`](crate::PublishedQos). [`Qos::NONE`] if there is none, or it is malformed.
    fn published_qos(&self) -> Qos {
        published::find(self.as_object().ior()).unwrap_or(Qos::NONE)
    }
}

impl<T: Interface> QosObject for T {}

/// The protocols of a reference, datagrams first; `None` if it offers none.
fn datagrams_first(object: &orbium_core::ObjectRef) -> Option<ProtocolPolicy> {
    let config = object.orb().config().clone();
    let offered = object.protocols();
    let usable = offered.iter().filter(|it| it.refusal.is_none());
    let channels: Vec<_> = usable.filter_map(|it| it.channel.as_ref()).collect();
    let (first, rest): (Vec<_>, Vec<_>) = channels
        .into_iter()
        .partition(|channel| config.protocols.is_datagram(channel));
    if first.is_empty() {
        return None;
    }
    let names = first
        .into_iter()
        .chain(rest)
        .map(orbium_core::Channel::protocol);
    Some(ProtocolPolicy::new(names))
}
