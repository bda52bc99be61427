// SPDX-License-Identifier: MIT OR Apache-2.0
//! System exceptions with which adapters answer wrong use, each with its minor code.

use std::sync::Arc;
use std::thread;

use orbium::{
    Completion, ExceptionKind, SystemException,
    poa::{Lifespan, Poa, PoaError, Policies, RequestProcessing},
};
use orbium_testkit::probe::Target;
use orbium_testkit::{Served, client, eventually, within};

use crate::fixture::{child, omg, refused, remote, servant, user};

fn system<T>(result: Result<T, PoaError>) -> SystemException {
    match refused(result) {
        PoaError::System(exception) => exception,
        other => panic!("{other}"),
    }
}

/// Conformance: POA - BAD_INV_ORDER 17: `create_POA` while the parent is being destroyed
#[test]
fn create_poa_while_the_parent_is_being_destroyed_is_bad_inv_order_17() {
    let served = Served::new(Default::default());
    let parent = child(&served, "parent", user());
    let (busy, state) = servant();
    parent.activate_servant_with_id(b"busy", &busy).unwrap();
    let target = remote(&served, &client(), &parent, b"busy");
    let gated = target.clone();
    let call = thread::spawn(move || gated.gate());
    state.gate.await_waiting(1);
    let dying = parent.clone();
    let destroying = thread::spawn(move || dying.destroy(true));
    // The request in progress keeps the destruction from its end.
    let transient = omg(ExceptionKind::Transient, 4);
    eventually("requests are refused", || target.noop() == Err(transient));
    let early = parent.create_poa("child", None, user());
    assert_eq!(system(early), omg(ExceptionKind::BadInvOrder, 17));
    state.gate.open();
    within("destroy", move || destroying.join().unwrap()).unwrap();
    assert_eq!(within("the call", move || call.join().unwrap()), Ok(()));
    let late = parent.create_poa("child", None, user());
    assert_eq!(system(late), omg_0(ExceptionKind::ObjectNotExist));
    served.end();
}

/// A system exception without a minor code, COMPLETED_NO.
fn omg_0(kind: ExceptionKind) -> SystemException {
    SystemException::new(kind, 0, Completion::No)
}

/// Conformance: POA - OBJ_ADAPTER 3: a request while no default servant is set
#[test]
fn a_request_without_a_default_servant_is_obj_adapter_3() {
    let served = Served::new(Default::default());
    let policies = Policies {
        request_processing: RequestProcessing::DefaultServant,
        ..user()
    };
    let poa = child(&served, "defaulting", policies);
    let unset = Err(omg(ExceptionKind::ObjAdapter, 3));
    assert_eq!(remote(&served, &client(), &poa, b"any").noop(), unset);
    let collocated: Target = poa.create_reference_with_id(b"any").unwrap();
    assert_eq!(collocated.noop(), unset);
    served.end();
}

/// Conformance: POA - BAD_PARAM 14: an id that an adapter with SYSTEM_ID cannot have given
#[test]
fn an_id_that_the_adapter_cannot_have_given_is_bad_param_14() {
    let served = Served::new(Default::default());
    let bad_param_14 = omg(ExceptionKind::BadParam, 14);
    for lifespan in [Lifespan::Transient, Lifespan::Persistent] {
        let policies = Policies {
            lifespan,
            ..Policies::default()
        };
        let poa = child(&served, &format!("{lifespan:?}"), policies);
        let (some, _) = servant();
        for id in [&b""[..], b"foreign", &[0; 17]] {
            let activated = poa.activate_servant_with_id(id, &some);
            assert_eq!(system(activated), bad_param_14, "{lifespan:?} {id:?}");
            let made = poa.create_reference_with_id::<Target>(id);
            assert_eq!(system(made), bad_param_14, "{lifespan:?} {id:?}");
            let untyped = poa.create_object_reference_with_id(id, "IDL:X:1.0");
            assert_eq!(system(untyped), bad_param_14, "{lifespan:?} {id:?}");
        }
        // One of its own it takes.
        let own = poa.next_object_id().unwrap();
        poa.activate_servant_with_id(&own, &some).unwrap();
    }
    served.end();
}

/// Conformance: POA - OBJECT_NOT_EXIST: operations of an adapter that was destroyed
#[test]
fn operations_of_a_destroyed_adapter_are_object_not_exist() {
    let served = Served::new(Default::default());
    let (some, _) = servant();
    let reference = child(&served, "a", Policies::default())
        .activate_servant(&some)
        .unwrap();
    let destroyed = |policies: Policies| {
        let poa = served
            .orb
            .root_poa()
            .find_poa("a")
            .unwrap_or_else(|_| child(&served, "a", policies.clone()));
        poa.destroy(true).unwrap();
        poa
    };
    let gone = omg_0(ExceptionKind::ObjectNotExist);
    let id = [0; 8];
    type Operation<'o> = (&'o str, &'o dyn Fn(&Poa) -> SystemException);
    let operations: [Operation<'_>; 10] = [
        ("create_POA", &|it| system(it.create_poa("b", None, user()))),
        ("find_POA", &|it| system(it.find_poa("b"))),
        ("activate_object", &|it| system(it.activate_servant(&some))),
        ("activate_object_with_id", &|it| {
            system(it.activate_servant_with_id(&id, &some))
        }),
        ("deactivate_object", &|it| system(it.deactivate(&id))),
        ("create_reference", &|it| {
            system(it.create_reference::<Target>())
        }),
        ("id_to_reference", &|it| system(it.id_to_reference(&id))),
        ("id_to_servant", &|it| system(it.id_to_servant(&id))),
        ("servant_to_id", &|it| system(it.servant_to_id(&some))),
        ("reference_to_servant", &|it| {
            system(it.reference_to_servant(&reference))
        }),
    ];
    let poa = destroyed(Policies::default());
    for (name, operation) in operations {
        assert_eq!(operation(&poa), gone, "{name}");
    }
    let defaulting = destroyed(Policies {
        request_processing: RequestProcessing::DefaultServant,
        ..user()
    });
    assert_eq!(system(defaulting.get_servant()), gone);
    assert_eq!(system(defaulting.set_servant(Arc::clone(&some))), gone);
    let managed = destroyed(Policies {
        request_processing: RequestProcessing::ServantManager,
        ..user()
    });
    assert_eq!(system(managed.has_servant_manager()), gone);
    served.end();
}
