// SPDX-License-Identifier: MIT OR Apache-2.0
//! Default servants.

use orbium::{
    ExceptionKind,
    poa::{PoaCurrent, PoaError, Policies, RequestProcessing, ServantRetention},
};
use orbium_testkit::probe::Target;
use orbium_testkit::{Served, client, each_strategy};

use crate::fixture::{Record, child, omg, refused, remote, servant, user};

fn defaulting(servant_retention: ServantRetention) -> Policies {
    Policies {
        servant_retention,
        request_processing: RequestProcessing::DefaultServant,
        ..user()
    }
}

/// Conformance: POA - USE_DEFAULT_SERVANT, `set_servant`, `get_servant`
#[test]
fn one_servant_serves_all_objects_that_have_none() {
    each_strategy(|strategy| {
        for retention in [ServantRetention::Retain, ServantRetention::NonRetain] {
            let served = Served::new(strategy);
            let client = client();
            let poa = child(&served, "defaulting", defaulting(retention));
            let target = remote(&served, &client, &poa, b"any");
            assert_eq!(refused(poa.get_servant()), PoaError::NoServant);
            assert_eq!(target.noop(), Err(omg(ExceptionKind::ObjAdapter, 3)));
            let (default, state) = servant();
            poa.set_servant(default).unwrap();
            let ids = Record::default();
            let notes = ids.clone();
            state.on_act(move |call, v| {
                notes.note(String::from_utf8_lossy(call.object_id()));
                let current = PoaCurrent::get().unwrap();
                assert_eq!(current.object_id(), call.object_id());
                let this: Target = call.this()?;
                assert_eq!(
                    current.poa().reference_to_id(&this).unwrap(),
                    call.object_id()
                );
                Ok(v)
            });
            assert_eq!(target.act(1), Ok(1));
            assert_eq!(remote(&served, &client, &poa, b"other").act(2), Ok(2));
            assert_eq!(ids.all(), ["any", "other"]);
            assert!(target.is_here());
            // Another one takes its place.
            let (next, later) = servant();
            poa.set_servant(next).unwrap();
            assert_eq!(target.echo_long(3), Ok(3));
            assert_eq!(later.calls(), 1);
            if retention == ServantRetention::Retain {
                let (own, active) = servant();
                poa.activate_servant_with_id(b"any", &own).unwrap();
                assert_eq!(target.echo_long(4), Ok(4));
                assert_eq!(active.calls(), 1);
            }
            served.end();
        }
    });
}

trait IsHere {
    fn is_here(&self) -> bool;
}

impl IsHere for Target {
    fn is_here(&self) -> bool {
        use orbium::Interface;
        !self.as_object().non_existent().unwrap()
    }
}

/// Conformance: POA - WrongPolicy: `get_servant`, `set_servant` without USE_DEFAULT_SERVANT
#[test]
fn other_adapters_have_no_default_servant() {
    let served = Served::new(Default::default());
    let root = served.orb.root_poa();
    assert_eq!(refused(root.get_servant()), PoaError::WrongPolicy);
    assert_eq!(root.set_servant(servant().0), Err(PoaError::WrongPolicy));
    served.end();
}

/// The adapter of such an object counted as one that is there, without its default servant: its clients received
/// OBJ_ADAPTER 3.
#[test]
fn objects_below_a_destroyed_root_adapter_do_not_exist() {
    let served = Served::new(Default::default());
    let client = client();
    let policies = defaulting(ServantRetention::NonRetain);
    let poa = child(&served, "defaulting", policies);
    poa.set_servant(servant().0).unwrap();
    let targets = [
        remote(&served, &client, &poa, b"any"),
        poa.create_reference_with_id(b"any").unwrap(),
    ];
    for target in &targets {
        target.noop().unwrap();
    }
    served.orb.root_poa().destroy(true).unwrap();
    for target in &targets {
        let refused = target.noop();
        assert_eq!(refused, Err(omg(ExceptionKind::ObjectNotExist, 2)));
    }
    served.end();
}
