// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cancellation of calls from another thread.

use std::thread;

use orbium::interceptor::Interceptors;
use orbium::{CancellationToken, Completion, ExceptionKind, Interface, Orb, SystemException};
use orbium_testkit::{FakeServer, reach, reference, within};

use crate::Tested;
use crate::recorder::{Journal, Recorder};

/// Conformance: PI - a call that is cancelled: receive_exception, TRANSIENT 3
#[test]
fn a_cancelled_call_ends_with_receive_exception() -> Tested {
    let (journal, mut interceptors) = (Journal::default(), Interceptors::new());
    interceptors.add_client(Recorder::new("c", &journal))?;
    let orb = Orb::builder().interceptors(interceptors).build()?;
    let server = FakeServer::listen();
    let ior = reference(2, &[server.port()], b"x", &[]);
    let token = CancellationToken::new();
    let target = reach(&orb, &ior.to_string()).with_cancellation(&token);
    let call = thread::spawn(move || target.echo_long(1));
    let mut peer = server.accept();
    peer.expect_request("echo_long");
    token.cancel();
    let outcome = within("the call", move || call.join().unwrap());
    let cancelled = SystemException::omg(ExceptionKind::Transient, 3, Completion::Maybe);
    assert_eq!(outcome, Err(cancelled));
    assert_eq!(
        journal.take(),
        [
            "c send_request",
            "c receive_exception IDL:omg.org/CORBA/TRANSIENT:1.0",
        ]
    );
    Ok(())
}
