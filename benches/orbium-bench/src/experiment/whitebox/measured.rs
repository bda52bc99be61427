// SPDX-License-Identifier: MIT OR Apache-2.0
//! Breakdown of the round trip of one protocol, from the probes of both sides.

use orbium::probe::Point;
use serde_json::{Value, json};

use super::profile::Profile;

/// The results of one protocol with one operation.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    pub(super) protocol: &'static str,
    /// Octets of the sequence; `None` without a parameter.
    pub(super) size: Option<u32>,
    pub(super) client: Profile,
    pub(super) server: Profile,
}

/// The parts of a round trip, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parts {
    pub(super) orb: f64,
    pub(super) transport: f64,
    pub(super) messaging: f64,
    pub(super) system: f64,
}

const ORB: [Point; 10] = [
    Point::Initialisation,
    Point::ObjectReference,
    Point::Marshal,
    Point::Unmarshal,
    Point::Release,
    Point::ObjectKey,
    Point::PoaDemux,
    Point::ServantDemux,
    Point::OperationDemux,
    Point::Upcall,
];
const TRANSPORT: [Point; 2] = [Point::TransportSend, Point::TransportReceive];
const MESSAGING: [Point; 2] = [Point::MessagingSend, Point::MessagingReceive];

impl Measured {
    /// The sums of both sides. The client's waiting time beyond the server's steps is the system's.
    pub(super) fn parts(&self) -> Parts {
        let both = |points: &[Point]| self.client.steps(points) + self.server.steps(points);
        let (orb, transport, messaging) = (both(&ORB), both(&TRANSPORT), both(&MESSAGING));
        let waiting = self.client.steps(&[Point::IoSend, Point::IoReceive]);
        let serving =
            self.server.steps(&ORB) + self.server.steps(&TRANSPORT) + self.server.steps(&MESSAGING);
        Parts {
            orb,
            transport,
            messaging,
            system: (waiting - serving).max(0.0),
        }
    }

    pub(super) fn to_json(&self) -> Value {
        let parts = self.parts();
        json!({
            "protocol": self.protocol,
            "octets": self.size,
            "client": self.client.to_json(),
            "server": self.server.to_json(),
            "orb": parts.orb,
            "transport": parts.transport,
            "messaging": parts.messaging,
            "os_and_io": parts.system,
        })
    }
}
