// SPDX-License-Identifier: MIT OR Apache-2.0
//! Facts of the calls of a client on this host: protocols in order, connections, sockets,
//! priorities, bounds. No connection is opened and no name resolved.

use orbium::giop::ObjectUrl;
use orbium::giop::real_time::PriorityModel;
use orbium::{ObjectRef, Orb, transport::ProtocolProperties};
use orbium_qos::{Qos, QosObject as _};

/// A fact of the calls: its name and value.
pub(super) type Fact = (&'static str, String);

/// The facts of calls through a reference with the quality of service that it requests; none for a
/// reference that a naming service has to resolve first, and for nil.
pub(super) fn of(url: &ObjectUrl) -> Vec<Fact> {
    let ior = match url {
        ObjectUrl::Ior(ior) => ior.clone(),
        ObjectUrl::Corbaloc(corbaloc) if corbaloc.initial_reference().is_none() => {
            match corbaloc.to_ior() {
                Ok(ior) => ior,
                Err(_) => return Vec::new(),
            }
        }
        _ => return Vec::new(),
    };
    if ior.is_nil() {
        return Vec::new();
    }
    let orb = Orb::builder().build();
    orb.map_or_else(|_| Vec::new(), |orb| facts(&orb.plain_reference(ior)))
}

fn facts(asked: &ObjectRef) -> Vec<Fact> {
    let qos = asked.published_qos();
    let (object, mut facts) = match asked.with_qos(&qos) {
        Ok(object) => (object, Vec::new()),
        // For example, a class that needs a bandwidth, which the client specifies.
        Err(error) => (asked.clone(), vec![("quality", error.to_string())]),
    };
    let (usable, refused): (Vec<_>, Vec<_>) = object
        .protocols()
        .into_iter()
        .partition(|it| it.refusal.is_none());
    facts.extend(usable.iter().map(|it| ("protocol", it.to_string())));
    facts.extend(refused.iter().map(|it| ("not by", it.to_string())));
    let policies = object.published_policies();
    let bands = policies.bands.as_ref().map(|bands| {
        let bands = bands.0.iter().map(|it| format!("{}-{}", it.low, it.high));
        format!(
            "one for each band: {}",
            bands.collect::<Vec<_>>().join(", ")
        )
    });
    let sharing = if object.has_private_connections() {
        "private"
    } else {
        "shared with other references"
    };
    facts.push(("connections", bands.unwrap_or_else(|| sharing.to_owned())));
    facts.push(("sockets", sockets(&object.properties())));
    if let Some(model) = policies.priority_model {
        let named = match model.model {
            PriorityModel::ClientPropagated => "that of the caller, or else",
            PriorityModel::ServerDeclared => "declared by the server:",
        };
        facts.push(("priority", format!("{named} {}", model.server_priority)));
    }
    facts.extend(asked_for(&qos));
    facts
}

/// The priority and time-out of each request.
fn asked_for(qos: &Qos) -> impl Iterator<Item = Fact> {
    let priority = qos.priority.map(|it| ("priority", it.number().to_string()));
    let timeout = qos.deadline.map(|it| ("time-out", format!("{it:?}")));
    [priority, timeout].into_iter().flatten()
}

fn sockets(it: &ProtocolProperties) -> String {
    let octets = |name: &str, value: Option<usize>| value.map(|it| format!("{name} {it}"));
    let said = [
        it.no_delay.then(|| "no delay".to_owned()),
        it.dscp.map(|it| format!("dscp {it}")),
        octets("send buffer", it.send_buffer),
        octets("receive buffer", it.receive_buffer),
        it.pacing_rate.map(|it| format!("paced at {it} octets/s")),
    ];
    let said: Vec<_> = said.into_iter().flatten().collect();
    if said.is_empty() {
        "as the system has them".to_owned()
    } else {
        said.join(", ")
    }
}
