// SPDX-License-Identifier: MIT OR Apache-2.0
//! References with a `Qos`.

use orbium_core::{BufferingConstraint, Interface, ProtocolPolicy};
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
    /// If the reference offers datagrams, a ClientProtocolPolicy selects them or the connections, see
    /// [`CommunicationClass`].
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
            if class == CommunicationClass::Message {
                // No batching, whatever the thread and the ORB buffer.
                object = object.with_buffering_constraint(BufferingConstraint::default());
                if let Some(priority) = qos.priority {
                    object = object.with_connections_of(priority);
                }
            }
        }
        if let Some(policy) = protocols(&object, qos) {
            object = object.with_protocols(policy);
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

/// The protocols of a reference that offers datagrams: these first for ISOCHRONOUS, and connections
/// alone for the other classes and without loss. `None` if nothing has to be chosen.
fn protocols(object: &orbium_core::ObjectRef, qos: &Qos) -> Option<ProtocolPolicy> {
    let excludes = qos.loss == Some(0);
    if qos.class.is_none() && !excludes {
        return None;
    }
    let offered = object.protocols();
    let usable = offered.iter().filter(|it| it.refusal.is_none());
    let channels: Vec<_> = usable.filter_map(|it| it.channel.as_ref()).collect();
    let known = object.orb().protocols();
    let (mut names, connections): (Vec<_>, Vec<_>) = channels
        .into_iter()
        .partition(|channel| known.is_datagram(channel));
    if names.is_empty() {
        return None;
    }
    if excludes || qos.class != Some(CommunicationClass::Isochronous) {
        // A reference of datagrams alone has no other way, unless they are excluded.
        if connections.is_empty() && !excludes {
            return None;
        }
        names.clear();
    }
    names.extend(connections);
    let names = names.into_iter().map(orbium_core::Channel::protocol);
    Some(ProtocolPolicy::new(names))
}
