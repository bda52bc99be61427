// SPDX-License-Identifier: MIT OR Apache-2.0
//! A server and a client of a test's own.

use orbium::stub::ServedBy;
use orbium::{Interface, Orb};

/// They are shut down when it is dropped.
pub(crate) struct Orbs {
    pub(crate) server: Orb,
    pub(crate) client: Orb,
}

impl Orbs {
    pub(crate) fn new() -> Self {
        let server = Orb::builder().endpoint("iiop://127.0.0.1:0").unwrap();
        let server = server.build().unwrap();
        server.root_poa().manager().activate().unwrap();
        let client = Orb::builder().build().unwrap();
        Self { server, client }
    }

    /// A reference of the server's as the client has it.
    pub(crate) fn remote<I: Interface>(&self, here: &I) -> I {
        let text = self.server.object_to_string(here.as_object());
        orbium::narrow(self.client.string_to_object(&text).unwrap()).unwrap()
    }

    /// The object as a caller of the same ORB has it, and as a remote one.
    pub(crate) fn both<S, I: Interface + ServedBy<S>>(&self, servant: S) -> [I; 2] {
        let here: I = self.server.root_poa().activate(servant).unwrap();
        let remote = self.remote(&here);
        [here, remote]
    }
}

impl Drop for Orbs {
    fn drop(&mut self) {
        self.client.shutdown(true).unwrap();
        self.server.shutdown(true).unwrap();
    }
}
