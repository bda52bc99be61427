// SPDX-License-Identifier: MIT OR Apache-2.0
//! A server in the process of its client: two ORBs with no sockets between them.

use std::sync::mpsc::{Receiver, channel};

use orbium::{Config, Orb, SystemException, transport::Endpoint};

use super::answers::PATIENCE;
use crate::failure::Failure;
use crate::object::reference;
use crate::serving::in_thread;

/// An ORB that serves the objects in threads of its own.
pub(super) struct OwnServer {
    /// References of cube, receiver and peer.
    pub(super) references: [String; 3],
    end: Receiver<Result<(), SystemException>>,
}

impl OwnServer {
    /// Serves at an endpoint.
    pub(super) fn start(endpoint: &Endpoint) -> Result<Self, Failure> {
        let config = Config {
            endpoints: vec![endpoint.clone()],
            protocols: reference::protocols(),
            ..Config::default()
        };
        let orb = Orb::new(config).map_err(|error| Failure::because(error.to_string()))?;
        let served = orbium_demo::serve(&orb)
            .map_err(|error| Failure::because(format!("cannot serve: {error}")))?;
        let references = [
            orb.object_to_string(&served.cube),
            orb.object_to_string(&served.receiver),
            orb.object_to_string(&served.peer),
        ];
        let (sender, end) = channel();
        in_thread("server", move || {
            // The receiver is gone once the client has failed.
            let _ = sender.send(orb.run());
        })?;
        Ok(Self { references, end })
    }

    /// Waits until the ORB has ended, as was requested.
    pub(super) fn ended(&self) -> Result<(), String> {
        match self.end.recv_timeout(PATIENCE) {
            Ok(outcome) => outcome.map_err(|exception| exception.to_string()),
            Err(_) => Err(format!("it has not ended after {} s", PATIENCE.as_secs())),
        }
    }
}
