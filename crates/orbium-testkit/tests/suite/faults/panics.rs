// SPDX-License-Identifier: MIT OR Apache-2.0
//! Servants and transports that panic.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use orbium::giop::{SystemException, minor};
use orbium::{Completion, ExceptionKind, Orb, config::ServerStrategy, transport::Transport};
use orbium_testkit::probe::Target;
use orbium_testkit::{Served, client, each_pair, each_strategy, eventually, reach, within};
use orbium_transport::{
    Acceptor, ByteStream, Connector, Deadline, Endpoint, EndpointError, ListenError,
    ProtocolProperties, StreamTransport, Tcp,
};

struct PanicsWhenDropped;

impl Drop for PanicsWhenDropped {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("a servant's destructor, on purpose");
        }
    }
}

/// Conformance: POA - a servant that panics: UNKNOWN, the server goes on
#[test]
fn a_panic_is_an_unknown_exception_and_the_server_lives() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        served.state.on_act(|_, v| match v {
            0 => Ok(0),
            _ => panic!("a servant, on purpose"),
        });
        let (_client, target) = served.client();
        let panicked = SystemException::orbium(
            ExceptionKind::Unknown,
            minor::SERVANT_PANICKED,
            Completion::Maybe,
        );
        for _ in 0..10 {
            assert_eq!(target.act(1), Err(panicked));
            assert_eq!(target.act(0), Ok(0));
        }
        assert_eq!(served.target.act(1), Err(panicked));
        let manager = served.orb.root_poa().manager();
        eventually("nothing is in progress", || {
            manager.requests_in_progress() == 0
        });
        served.end();
    });
}

/// Conformance: POA - a servant that panics: UNKNOWN, the server goes on
#[test]
fn a_panicking_destructor_of_a_servant_harms_no_other_object() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let root = served.orb.root_poa();
        let state = Arc::new(orbium_testkit::TargetState::default());
        let doomed: orbium_testkit::probe::Target = root.activate(Arc::clone(&state)).unwrap();
        let (adapter, bomb) = (root.clone(), PanicsWhenDropped);
        state.on_act(move |call, v| {
            let _ = &bomb;
            adapter.deactivate(call.object_id()).unwrap();
            Ok(v)
        });
        // The request that ends the object is the last to hold its servant.
        drop(state);
        let client = client();
        let seen = orbium_testkit::reach(&client, &served.orb.object_to_string(&doomed));
        let _ = seen.act(1);
        let (_other, target) = served.client();
        assert_eq!(target.echo_long(2), Ok(2));
        eventually("nothing is in progress", || {
            root.manager().requests_in_progress() == 0
        });
        drop(root);
        served.end();
    });
}

/// A transport that panics at its first connection.
#[derive(Clone, Debug, Default)]
struct Panicking(Arc<AtomicUsize>);

#[derive(Debug)]
struct PanickingConnector(Panicking, Box<dyn Connector>);

impl StreamTransport for Panicking {
    fn scheme(&self) -> &'static str {
        Tcp.scheme()
    }

    fn listen(
        &self,
        endpoint: &Endpoint,
        properties: &ProtocolProperties,
    ) -> Result<Box<dyn Acceptor>, ListenError> {
        Tcp.listen(endpoint, properties)
    }

    fn connector(
        &self,
        address: &str,
        properties: &ProtocolProperties,
    ) -> Result<Box<dyn Connector>, EndpointError> {
        let inner = Tcp.connector(address, properties)?;
        Ok(Box::new(PanickingConnector(self.clone(), inner)))
    }
}

impl Connector for PanickingConnector {
    fn connect(&self, deadline: Deadline) -> io::Result<Box<dyn ByteStream>> {
        let before = self.0.0.fetch_add(1, Ordering::SeqCst);
        assert!(before > 0, "a transport, on purpose");
        self.1.connect(deadline)
    }
}

/// The multiplexed connection counted as one that is being made: all later calls waited for it, until they failed.
///
/// Conformance: protocols - a transport that panics harms no later call
#[test]
fn a_transport_that_panics_harms_no_later_call() {
    let served = Served::new(ServerStrategy::default());
    each_pair(|config| {
        let strategy = config.client_strategy;
        let transport = Transport::stream(Panicking::default());
        let builder = Orb::builder().config(config).transport(transport);
        let client = builder.build().unwrap();
        let text = served.orb.object_to_string(&served.target);
        let target: Target = reach(&client, &text);
        let call = || catch_unwind(AssertUnwindSafe(|| target.echo_long(1)));
        // A panic of another thread is an exception here.
        assert!(!matches!(call(), Ok(Ok(_))), "{strategy:?}");
        let again = target.clone();
        let answer = within("the next call", move || again.echo_long(2));
        assert_eq!(answer, Ok(2), "{strategy:?}");
        client.shutdown(true).unwrap();
    });
    served.end();
}
