// SPDX-License-Identifier: MIT OR Apache-2.0
//! A servant that passes its reply tokens to the test.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use orbium::{
    Call, Config, DeferredReply, Interface, Orb, config::ServerStrategy, poa::Poa,
    transport::Transport,
};
use orbium_testkit::{PATIENCE, within};

use crate::later::{Desk, DeskServant, RefusedError};

pub(crate) type Token = DeferredReply<i32, RefusedError>;

/// What `take` does with its token.
type Action = dyn Fn(i32, Token) + Send + Sync;

pub(crate) struct Servant(pub(crate) Box<Action>);

impl DeskServant for Servant {
    fn take(&self, _: &Call<'_>, number: i32, reply: Token) {
        (self.0)(number, reply);
    }

    fn fill(&self, _: &Call<'_>, size: u32, reply: DeferredReply<Vec<u8>>) {
        thread::spawn(move || reply.ok(vec![7; size as usize]).unwrap());
    }

    fn post(&self, _: &Call<'_>, number: i32, reply: DeferredReply<()>) {
        assert_eq!(number, 1);
        drop(reply);
    }

    fn now(&self, _: &Call<'_>, number: i32) -> orbium::Result<i32> {
        Ok(number)
    }
}

/// A server, and a client.
pub(crate) struct Served {
    pub(crate) orb: Orb,
    pub(crate) client: Orb,
    /// The object as the server itself has it; its plain key is `Target`.
    pub(crate) here: Desk,
    /// As the client has it.
    pub(crate) desk: Desk,
    tokens: Receiver<(i32, Token)>,
}

pub(crate) fn with_strategy(strategy: ServerStrategy) -> Config {
    Config {
        strategy,
        endpoints: vec!["iiop://127.0.0.1:0".parse().unwrap()],
        ..Config::default()
    }
}

impl Served {
    pub(crate) fn new(strategy: ServerStrategy) -> Self {
        Self::with(with_strategy(strategy), None)
    }

    pub(crate) fn with(config: Config, transport: Option<Transport>) -> Self {
        let mut server = Orb::builder().config(config);
        let mut client = Orb::builder();
        if let Some(transport) = transport {
            server = server.transport(transport.clone());
            client = client.transport(transport);
        }
        let orb = server.build().unwrap();
        orb.root_poa().manager().activate().unwrap();
        let (here, tokens) = keeping(&orb.root_poa());
        orb.bind_key_in_place("Target", &here).unwrap();
        let client = client.build().unwrap();
        let desk = seen_by(&client, &orb, &here);
        Self {
            orb,
            client,
            here,
            desk,
            tokens,
        }
    }

    /// The next token that a servant got, and the argument of its call.
    pub(crate) fn token(&self) -> (i32, Token) {
        self.tokens.recv_timeout(PATIENCE).expect("a token")
    }

    pub(crate) fn port(&self) -> u16 {
        self.orb.addresses().unwrap()[0].port
    }

    /// Calls `take` on another thread.
    pub(crate) fn call(&self, number: i32) -> thread::JoinHandle<Result<i32, RefusedError>> {
        let desk = self.desk.clone();
        thread::spawn(move || desk.take(number))
    }

    pub(crate) fn end(self) {
        let (orb, client) = (self.orb.clone(), self.client.clone());
        drop(self);
        within("shutdown", move || {
            client.shutdown(true).unwrap();
            orb.shutdown(true).unwrap();
        });
    }
}

/// A desk in that adapter that keeps its tokens for the test.
pub(crate) fn keeping(poa: &Poa) -> (Desk, Receiver<(i32, Token)>) {
    let (sender, tokens): (Sender<(i32, Token)>, _) = channel();
    let keep = move |number, token| sender.send((number, token)).unwrap();
    let desk = poa.activate(Arc::new(Servant(Box::new(keep)))).unwrap();
    (desk, tokens)
}

/// The desk as another ORB has it.
pub(crate) fn seen_by(client: &Orb, server: &Orb, desk: &Desk) -> Desk {
    let text = server.object_to_string(desk.as_object());
    let object = client.string_to_object(&text).unwrap();
    Desk::from_object(object.expect("not nil"))
}
