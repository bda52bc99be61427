// SPDX-License-Identifier: MIT OR Apache-2.0
//! Servant locators.

use std::sync::Arc;
use std::thread;

use orbium::{
    Completion, ExceptionKind, Servant, SystemException,
    poa::{ForwardRequest, Poa, PoaError, ServantError, ServantLocator, ServantRetention},
};
use orbium_testkit::probe::Target;
use orbium_testkit::{Served, client, each_strategy};

use crate::fixture::{Record, child, managed, omg, refused, remote, servant};

/// Sends every client elsewhere.
pub(crate) struct Forwarding(pub(crate) Option<ForwardRequest>);

impl ServantLocator for Forwarding {
    type Cookie = ();

    fn preinvoke(
        &self,
        _: &[u8],
        _: &Poa,
        _: &[u8],
    ) -> Result<(Arc<dyn Servant>, ()), ServantError> {
        match &self.0 {
            Some(forward) => Err(forward.clone().into()),
            None => Err(SystemException::new(ExceptionKind::NoResources, 0, Completion::No).into()),
        }
    }

    fn postinvoke(
        &self,
        _: &[u8],
        _: &Poa,
        _: &[u8],
        (): (),
        _: Arc<dyn Servant>,
    ) -> Result<(), SystemException> {
        panic!("not after a preinvoke that failed");
    }

    fn locate(&self, _: &[u8], _: &Poa) -> Option<ForwardRequest> {
        self.0.clone()
    }
}

/// A new servant for each request; the cookie is the thread and a number.
struct Noting {
    record: Record,
    servant: Arc<dyn Servant>,
}

const LATE_EXCEPTION: SystemException =
    SystemException::new(ExceptionKind::NoMemory, 3, Completion::Maybe);

impl ServantLocator for Noting {
    type Cookie = (thread::ThreadId, usize);

    fn preinvoke(
        &self,
        id: &[u8],
        poa: &Poa,
        operation: &[u8],
    ) -> Result<(Arc<dyn Servant>, Self::Cookie), ServantError> {
        let operation = String::from_utf8_lossy(operation);
        if operation == "make" {
            panic!("preinvoke");
        }
        let id = String::from_utf8_lossy(id);
        self.record
            .note(format!("preinvoke {id} {operation} {}", poa.name()));
        let cookie = (thread::current().id(), self.record.all().len());
        Ok((Arc::clone(&self.servant), cookie))
    }

    fn postinvoke(
        &self,
        id: &[u8],
        _: &Poa,
        operation: &[u8],
        (thread, number): Self::Cookie,
        servant: Arc<dyn Servant>,
    ) -> Result<(), SystemException> {
        assert_eq!(thread, thread::current().id());
        assert!(Arc::ptr_eq(&servant, &self.servant));
        let id = String::from_utf8_lossy(id);
        let operation = String::from_utf8_lossy(operation);
        self.record
            .note(format!("postinvoke {id} {operation} {number}"));
        match &*operation {
            "echo_octet" => Err(LATE_EXCEPTION),
            _ => Ok(()),
        }
    }
}

fn noting(served: &Served) -> (Poa, Record, Arc<orbium_testkit::TargetState>) {
    let poa = child(served, "passing", managed(ServantRetention::NonRetain));
    let (servant, state) = servant();
    let record = Record::default();
    let locator = Noting {
        record: record.clone(),
        servant,
    };
    poa.set_servant_locator(locator).unwrap();
    (poa, record, state)
}

/// Conformance: POA - USE_SERVANT_MANAGER, NON_RETAIN: `preinvoke`, `postinvoke`, the cookie
#[test]
fn each_request_finds_its_servant_and_gives_it_back() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let client = client();
        let (poa, record, state) = noting(&served);
        let target = remote(&served, &client, &poa, b"a");
        assert_eq!(target.echo_long(3), Ok(3));
        assert_eq!(target.echo_string("é"), Ok("é".to_owned()));
        let local: Target = poa.create_reference_with_id(b"b").unwrap();
        assert_eq!(local.echo_long(4), Ok(4));
        let calls = [
            "preinvoke a echo_long passing",
            "postinvoke a echo_long 1",
            "preinvoke a echo_string passing",
            "postinvoke a echo_string 3",
            "preinvoke b echo_long passing",
            "postinvoke b echo_long 5",
        ];
        assert_eq!(record.all(), calls);
        // A oneway too, and more octets than one message may have.
        target.post(7).unwrap();
        let large = vec![7; 300_000];
        assert_eq!(target.echo_octets(&large).unwrap(), large);
        assert_eq!(state.posted(), [7]);
        served.end();
    });
}

/// Conformance: POA - `postinvoke`: what it raises replaces the answer; it is called after exceptions and panics
#[test]
fn an_exception_of_postinvoke_replaces_the_reply() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let client = client();
        let (poa, record, state) = noting(&served);
        let target = remote(&served, &client, &poa, b"a");
        assert_eq!(target.echo_octet(3), Err(LATE_EXCEPTION));
        // After exceptions of either kind, and panics.
        assert!(target.refuse(3).is_err());
        assert!(target.raise_system("NO_MEMORY").is_err());
        state.on_act(|_, _| panic!("servant"));
        assert_eq!(target.act(0).unwrap_err().kind, ExceptionKind::Unknown);
        let posts = record.all();
        let posts = posts.iter().filter(|it| it.starts_with("postinvoke"));
        assert_eq!(posts.count(), 4);
        served.end();
    });
}

/// Conformance: POA - a servant manager that fails: its exception, UNKNOWN for a panic
#[test]
fn clients_get_the_exception_of_a_locator_and_a_panic_harms_nothing() {
    let served = Served::new(Default::default());
    let client = client();
    let poa = child(&served, "failing", managed(ServantRetention::NonRetain));
    poa.set_servant_locator(Forwarding(None)).unwrap();
    let target = remote(&served, &client, &poa, b"a");
    let refusal = SystemException::new(ExceptionKind::NoResources, 0, Completion::No);
    assert_eq!(target.noop(), Err(refusal));
    let (poa, _, _) = noting(&served);
    let target = remote(&served, &client, &poa, b"a");
    assert_eq!(target.make(5).unwrap_err().kind, ExceptionKind::Unknown);
    assert_eq!(target.echo_long(5), Ok(5));
    served.end();
}

/// Conformance: POA - WrongPolicy: NON_RETAIN has no map of active objects
#[test]
fn an_adapter_that_does_not_retain_has_no_active_objects() {
    let served = Served::new(Default::default());
    let (poa, _, _) = noting(&served);
    let (one, _) = servant();
    let wrong = PoaError::WrongPolicy;
    assert_eq!(refused(poa.activate_servant_with_id(b"a", &one)), wrong);
    assert_eq!(refused(poa.activate_servant(&one)), wrong);
    assert_eq!(poa.deactivate(b"a"), Err(wrong));
    assert_eq!(refused(poa.id_to_reference(b"a")), wrong);
    assert_eq!(refused(poa.id_to_servant(b"a")), wrong);
    assert_eq!(refused(poa.servant_to_id(&one)), wrong);
    assert_eq!(refused(poa.servant_to_reference(&one)), wrong);
    let target: Target = poa.create_reference_with_id(b"a").unwrap();
    assert_eq!(refused(poa.reference_to_servant(&target)), wrong);
    assert_eq!(poa.reference_to_id(&target).unwrap(), b"a");
    served.end();
}

/// Conformance: POA - OBJ_ADAPTER 4: a servant manager is missing or of the wrong kind
#[test]
fn without_a_locator_requests_are_refused() {
    let served = Served::new(Default::default());
    let poa = child(&served, "empty", managed(ServantRetention::NonRetain));
    let target: Target = poa.create_reference_with_id(b"a").unwrap();
    assert_eq!(target.noop(), Err(omg(ExceptionKind::ObjAdapter, 4)));
    served.end();
}
