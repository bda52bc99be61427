// SPDX-License-Identifier: MIT OR Apache-2.0
//! Interceptors that implement no point of a call with results: such calls take the plain path, and
//! the interceptors see the end of all others.

use std::sync::Arc;

use orbium::interceptor::{
    ClientInterceptor, Interceptors, Interrupt, ReceiveException, ReceiveOther, ReplyContexts,
    SendException, SendOther, ServerInterceptor,
};
use orbium::{Completion, ExceptionKind, Interface, Orb, SystemException};
use orbium_testkit::probe::{RefusedError, Target};

use crate::Tested;
use crate::recorder::{Journal, REFUSED, Server, forward_to, plain_server, raise, seen_by, serve};

type Act = Arc<dyn Fn() -> Result<(), Interrupt> + Send + Sync>;

/// Implements the ending points of calls without results, all in the same way.
#[derive(Clone)]
struct Endings {
    journal: Journal,
    act: Act,
}

impl Endings {
    fn new(
        journal: &Journal,
        act: impl Fn() -> Result<(), Interrupt> + Send + Sync + 'static,
    ) -> Self {
        Self {
            journal: journal.clone(),
            act: Arc::new(act),
        }
    }

    fn note(&self, what: String) -> Result<(), Interrupt> {
        self.journal.note(what);
        (self.act)()
    }
}

impl ClientInterceptor for Endings {
    fn receive_exception(&self, it: &mut ReceiveException<'_>) -> Result<(), Interrupt> {
        self.note(format!(
            "c {} {}",
            it.operation(),
            it.received_exception_id()
        ))
    }

    fn receive_other(&self, it: &mut ReceiveOther<'_>) -> Result<(), Interrupt> {
        self.note(format!("c {} {:?}", it.operation(), it.reply_status()))
    }
}

impl ServerInterceptor for Endings {
    fn send_exception(&self, it: &mut SendException<'_, '_>) -> Result<(), Interrupt> {
        self.note(format!(
            "s {} {}",
            it.operation(),
            it.sending_exception_id()
        ))
    }

    fn send_other(&self, it: &mut SendOther<'_, '_>) -> Result<(), Interrupt> {
        self.note(format!("s {} {:?}", it.operation(), it.reply_status()))
    }
}

/// Implements no point.
struct Nothing;

impl ClientInterceptor for Nothing {}
impl ServerInterceptor for Nothing {}

fn client(endings: &Endings) -> Orb {
    let mut interceptors = Interceptors::new();
    interceptors.add_client(Nothing).unwrap();
    interceptors.add_client(endings.clone()).unwrap();
    Orb::builder().interceptors(interceptors).build().unwrap()
}

fn server(endings: &Endings) -> Server {
    let mut interceptors = Interceptors::new();
    interceptors.add_server(endings.clone()).unwrap();
    interceptors.add_server(Nothing).unwrap();
    serve(interceptors)
}

/// A target that has answered calls: the unimplemented points are known.
fn learned(orb: &Orb, server: &Server, journal: &Journal) -> Target {
    let target = seen_by(orb, &server.target);
    for _ in 0..3 {
        assert_eq!(target.echo_long(7), Ok(7));
    }
    journal.take();
    target
}

/// Conformance: PI - user and system exceptions: receive_exception and send_exception
#[test]
fn exceptions_of_overlooked_calls_are_seen_by_both_sides() {
    let journal = Journal::default();
    let endings = Endings::new(&journal, || Ok(()));
    let (server, orb) = (server(&endings), client(&endings));
    let target = learned(&orb, &server, &journal);
    assert!(matches!(target.refuse(3), Err(RefusedError::Refused(_))));
    let of_user = [
        "s refuse IDL:Probe/Refused:1.0",
        "c refuse IDL:Probe/Refused:1.0",
    ];
    assert_eq!(journal.take(), of_user);
    assert_eq!(target.echo_long(8), Ok(8));
    assert!(target.raise_system("BAD_OPERATION").is_err());
    let id = "raise_system IDL:omg.org/CORBA/BAD_OPERATION:1.0";
    assert_eq!(journal.take(), [format!("s {id}"), format!("c {id}")]);
    server.state.on_act(|_, _| panic!("as the test asks"));
    let panicked = target.act(1).unwrap_err();
    assert_eq!(panicked.kind, ExceptionKind::Unknown);
    let id = "act IDL:omg.org/CORBA/UNKNOWN:1.0";
    assert_eq!(journal.take(), [format!("s {id}"), format!("c {id}")]);
}

/// Conformance: PI - receive_exception: another exception, or a forward
#[test]
fn the_end_of_an_overlooked_call_is_changed_by_either_side() {
    let (journal, plain) = (Journal::default(), plain_server());
    let refusing = Endings::new(&journal, raise);
    let orb = client(&refusing);
    let target = learned(&orb, &plain, &journal);
    let refused = target.refuse(3);
    assert!(matches!(refused, Err(RefusedError::System(REFUSED))));
    assert_eq!(journal.take(), ["c refuse IDL:Probe/Refused:1.0"]);
    assert_eq!(target.raise_system("BAD_OPERATION"), Err(REFUSED));

    let server = server(&refusing);
    let none = Orb::builder().build().unwrap();
    let target = learned(&none, &server, &journal);
    let refused = target.refuse(3);
    assert!(matches!(refused, Err(RefusedError::System(REFUSED))));
    assert_eq!(target.raise_system("BAD_OPERATION"), Err(REFUSED));
    assert_eq!(target.echo_long(9), Ok(9));
}

/// Conformance: PI - receive_exception: another exception, or a forward
#[test]
fn a_forward_at_the_end_of_an_overlooked_call_is_followed() {
    let (journal, first, second) = (Journal::default(), plain_server(), plain_server());
    let orb = client(&Endings::new(&journal, forward_to(&second)));
    let target = learned(&orb, &first, &journal);
    let before = [first.state.calls(), second.state.calls()];
    assert!(matches!(target.refuse(3), Err(RefusedError::Refused(_))));
    assert_eq!(
        [first.state.calls(), second.state.calls()],
        before.map(|it| it + 1)
    );
    let refused = "c refuse IDL:Probe/Refused:1.0";
    assert_eq!(journal.take(), [refused, refused]);

    let first = server(&Endings::new(&journal, forward_to(&second)));
    let none = Orb::builder().build().unwrap();
    let target = learned(&none, &first, &journal);
    assert!(matches!(target.refuse(3), Err(RefusedError::Refused(_))));
    assert_eq!(journal.take(), ["s refuse IDL:Probe/Refused:1.0"]);
}

/// Conformance: PI - a server forwards: receive_other, then a new flow
#[test]
fn a_lost_server_and_a_forward_are_seen_of_overlooked_calls() {
    let (journal, second) = (Journal::default(), plain_server());
    let seeing = Endings::new(&journal, || Ok(()));
    let orb = client(&seeing);
    let first = server(&Endings::new(&Journal::default(), forward_to(&second)));
    let target = learned(&orb, &first, &journal);
    assert!(matches!(target.refuse(3), Err(RefusedError::Refused(_))));
    let seen = ["c refuse LocationForward", "c refuse IDL:Probe/Refused:1.0"];
    assert_eq!(journal.take(), seen);
    for server in [first, second] {
        server.orb.shutdown(true).unwrap();
    }
    let lost = target.noop().unwrap_err();
    let last = journal.take().pop();
    assert_eq!(last, Some(format!("c noop {}", lost.repository_id())));
}

/// Conformance: PI - oneways: receive_other and send_other, SUCCESSFUL
#[test]
fn oneways_are_seen_where_calls_with_results_are_overlooked() -> Tested {
    let journal = Journal::default();
    let seeing = Endings::new(&journal, || Ok(()));
    let (server, orb) = (server(&seeing), client(&seeing));
    let target = learned(&orb, &server, &journal);
    target.post(1)?;
    target.noop()?;
    let mut seen = journal.take();
    seen.sort();
    assert_eq!(seen, ["c post Successful", "s post Successful"]);
    Ok(())
}

/// Conformance: PI - service contexts by hand: of a caller to the servant, and of the servant back
#[test]
fn a_servant_adds_service_contexts_to_an_overlooked_reply() -> Tested {
    const TAG: u32 = 0x4F52_4275;
    let journal = Journal::default();
    let server = server(&Endings::new(&journal, || Ok(())));
    let orb = Orb::builder().build()?;
    let contexts = ReplyContexts::default();
    let target = learned(&orb, &server, &journal).with_reply_contexts(&contexts);
    server.state.on_act(|call, number| {
        call.add_reply_service_context(TAG, b"added", false)?;
        let low = SystemException::new(ExceptionKind::BadParam, 1, Completion::No);
        number.checked_sub(1).filter(|it| *it >= 0).ok_or(low)
    });
    assert_eq!(target.act(4)?, 3);
    assert_eq!(contexts.get().get(TAG)?, b"added");
    target.noop()?;
    assert!(contexts.get().is_empty());
    assert_eq!(target.act(0).unwrap_err().kind, ExceptionKind::BadParam);
    assert_eq!(contexts.get().get(TAG)?, b"added");
    Ok(())
}
