// SPDX-License-Identifier: MIT OR Apache-2.0
//! An object with the two kinds of callers that it may have.

use std::sync::mpsc::Receiver;
use std::thread::JoinHandle;

use orbium::stub::ServedBy;
use orbium::{Interface, Orb};

/// The object as a caller of the same ORB has it, and as a remote one.
pub(crate) struct Pair<I> {
    server: Orb,
    client: Orb,
    pub(crate) stores: [I; 2],
    /// What its oneways were given.
    pub(crate) posted: Receiver<i32>,
    answering: Option<JoinHandle<()>>,
}

impl<I: Interface> Pair<I> {
    /// `answering` is a thread that ends with the servant.
    pub(crate) fn new<S>(servant: S, posted: Receiver<i32>, answering: JoinHandle<()>) -> Self
    where
        I: ServedBy<S>,
    {
        let server = Orb::builder().endpoint("iiop://127.0.0.1:0").unwrap();
        let server = server.build().unwrap();
        server.root_poa().manager().activate().unwrap();
        let client = Orb::builder().build().unwrap();
        let here: I = server.root_poa().activate(servant).unwrap();
        let text = server.object_to_string(here.as_object());
        let remote = orbium::narrow(client.string_to_object(&text).unwrap()).unwrap();
        Self {
            server,
            client,
            stores: [here, remote],
            posted,
            answering: Some(answering),
        }
    }
}

impl<I> Drop for Pair<I> {
    fn drop(&mut self) {
        self.client.shutdown(true).unwrap();
        self.server.shutdown(true).unwrap();
        if let Some(answering) = self.answering.take() {
            // The thread ends with the servant, which ends with the ORB.
            answering.join().unwrap();
        }
    }
}
