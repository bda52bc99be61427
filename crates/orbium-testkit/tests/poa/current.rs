// SPDX-License-Identifier: MIT OR Apache-2.0
//! `PortableServer::Current`.

use orbium::poa::{NoContext, PoaCurrent, Policies};
use orbium_testkit::probe::Target;
use orbium_testkit::{Served, client, each_strategy};

use crate::fixture::{Record, child, remote, servant, user};

/// Conformance: POA - `PortableServer::Current`: `get_POA`, `get_object_id`, `get_reference`, `get_servant`; NoContext
#[test]
fn code_within_a_request_learns_of_it_by_the_current() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let client = client();
        let policies = Policies {
            current: true,
            ..user()
        };
        let poa = child(&served, "current", policies);
        let seen = Record::default();
        let (one, state) = servant();
        poa.activate_servant_with_id(b"inner", &one).unwrap();
        poa.activate_servant_with_id(b"outer", &one).unwrap();
        let inner: Target = poa.create_reference_with_id(b"inner").unwrap();
        let notes = seen.clone();
        let adapter = poa.clone();
        state.on_act(move |_, v| {
            let note = || {
                let current = PoaCurrent::get().unwrap();
                assert_eq!(current.poa(), adapter);
                let this: Target = current.reference().unwrap();
                assert_eq!(adapter.reference_to_id(&this).unwrap(), current.object_id());
                current.servant().unwrap();
                notes.note(String::from_utf8_lossy(current.object_id()));
            };
            note();
            if v > 0 {
                inner.act(v - 1)?;
                note();
            }
            Ok(v)
        });
        let target = remote(&served, &client, &poa, b"outer");
        assert_eq!(target.act(1), Ok(1));
        assert_eq!(seen.all(), ["outer", "inner", "outer"]);
        assert_eq!(PoaCurrent::get().unwrap_err(), NoContext);
        served.end();
    });
}

/// Conformance: POA - `PortableServer::Current`: `get_POA`, `get_object_id`, `get_reference`, `get_servant`; NoContext
#[test]
fn an_adapter_that_does_not_allow_it_has_no_context() {
    let served = Served::new(Default::default());
    served.state.on_act(|_, v| {
        assert_eq!(PoaCurrent::get().unwrap_err(), NoContext);
        Ok(v)
    });
    assert_eq!(served.target.act(2), Ok(2));
    served.end();
}
