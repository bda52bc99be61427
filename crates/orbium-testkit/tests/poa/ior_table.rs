// SPDX-License-Identifier: MIT OR Apache-2.0
//! The IOR table, and dispatch hooks that send clients on.

use std::sync::Arc;

use orbium::{
    ExceptionKind, Interface, Orb,
    hook::{Dispatch, DispatchHook, Hook, RequestInfo},
    poa::{ForwardRequest, IorTableError, Policies},
};
use orbium_testkit::probe::Target;
use orbium_testkit::{Served, client, each_strategy, reach};

use crate::fixture::{child, remote, servant, user};

fn by_key(client: &Orb, served: &Served, key: &str) -> Target {
    reach(
        client,
        &format!("corbaloc::127.0.0.1:{}/{key}", served.port()),
    )
}

/// Conformance: POA - the IOR table: `bind`, `rebind`, `unbind`, `find`, a locator
#[test]
fn clients_that_call_by_a_key_are_sent_where_the_table_says() {
    each_strategy(|strategy| {
        let (served, other) = (Served::new(strategy), Served::new(strategy));
        let client = client();
        let table = served.orb.ior_table();
        assert_eq!(table.find("There").unwrap_err(), IorTableError::NotFound);
        assert_eq!(table.unbind("There"), Err(IorTableError::NotFound));
        table.bind("There", &other.target).unwrap();
        assert_eq!(
            table.bind("There", &served.target),
            Err(IorTableError::AlreadyBound)
        );
        assert_eq!(&table.find("There").unwrap(), other.target.as_object());
        let target = by_key(&client, &served, "There");
        assert_eq!(target.echo_long(3), Ok(3));
        assert!(!target.as_object().non_existent().unwrap());
        assert_eq!(other.state.calls(), 1);
        // From within the process too.
        let local = by_key(&served.orb, &served, "There");
        assert_eq!(local.echo_long(4), Ok(4));
        assert_eq!((served.state.calls(), other.state.calls()), (0, 2));
        table.rebind("There", &served.target);
        assert_eq!(by_key(&client, &served, "There").echo_long(5), Ok(5));
        assert_eq!(served.state.calls(), 1);
        // The ORB's own keys come first.
        table.rebind("Target", &other.target);
        assert_eq!(by_key(&client, &served, "Target").echo_long(5), Ok(5));
        assert_eq!(served.state.calls(), 2);

        table.unbind("There").unwrap();
        let fresh = orbium_testkit::client();
        let target = by_key(&fresh, &served, "There");
        assert_eq!(
            target.noop().unwrap_err().kind,
            ExceptionKind::ObjectNotExist
        );
        let to = ForwardRequest::permanently_to(&other.target);
        table.set_locator(move |key: &[u8]| match key {
            b"There" => Some(to.clone()),
            b"Panic" => panic!("a locator"),
            _ => None,
        });
        assert_eq!(target.echo_long(6), Ok(6));
        assert_eq!(other.state.calls(), 3);
        for key in ["Elsewhere", "Panic"] {
            let missing = by_key(&fresh, &served, key).noop().unwrap_err();
            assert_eq!(missing.kind, ExceptionKind::ObjectNotExist);
        }
        other.end();
        served.end();
    });
}

#[derive(Debug)]
struct SendingOn(ForwardRequest);

impl DispatchHook for SendingOn {
    fn arrived(&self, request: &RequestInfo<'_>) -> Dispatch {
        match request.operation() {
            b"noop" => Dispatch::Here,
            _ => Dispatch::Forward(self.0.clone()),
        }
    }
}

/// Conformance: replies - LOCATION_FORWARD, LOCATION_FORWARD_PERM sent by orbium's server
/// Conformance: ORB - dispatch hooks, per ORB and per adapter: LOCATION_FORWARD
#[test]
fn a_dispatch_hook_sends_clients_on() {
    each_strategy(|strategy| {
        let (served, other) = (Served::new(strategy), Served::new(strategy));
        for forward in [
            ForwardRequest::to(&other.target),
            ForwardRequest::permanently_to(&other.target),
        ] {
            let client = client();
            let poa = child(
                &served,
                if forward.permanent { "p" } else { "t" },
                Policies {
                    dispatch: Some(Hook(Arc::new(SendingOn(forward)))),
                    ..user()
                },
            );
            let (one, state) = servant();
            poa.activate_servant_with_id(b"x", &one).unwrap();
            let target = remote(&served, &client, &poa, b"x");
            target.noop().unwrap();
            let before = other.state.calls();
            assert_eq!(target.echo_long(3), Ok(3));
            let local: Target = poa.create_reference_with_id(b"x").unwrap();
            assert_eq!(local.echo_long(4), Ok(4));
            assert_eq!((state.calls(), other.state.calls() - before), (1, 2));
        }
        other.end();
        served.end();
    });
}
