// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every status of a reply, in every version and both byte orders.

use orbium::giop::{ReplyStatus, SystemException};
use orbium::{Completion, ExceptionKind};
use orbium_cdr::{ByteOrder, CdrWriter};
use orbium_testkit::probe::{RefusedError, Target};
use orbium_testkit::{FakeServer, reach, reference, reply, within};

/// The outcome of `refuse`, answered like that.
fn outcome(
    minor: u8,
    order: ByteOrder,
    status: ReplyStatus,
    body: impl FnOnce(&mut CdrWriter<'_>),
) -> Result<i32, RefusedError> {
    let server = FakeServer::listen();
    let client = orbium_testkit::client();
    let target: Target = reach(
        &client,
        &reference(minor, &[server.port()], b"x", &[]).to_string(),
    );
    let call = orbium_testkit::spawn(move || target.refuse(1));
    let mut peer = server.accept();
    let request = peer.expect_request("refuse");
    assert_eq!(request.header.version.minor, minor);
    peer.send(&reply(minor, order, request.id, status, body));
    within("the call", move || call.join().unwrap())
}

fn each_form(check: impl Fn(u8, ByteOrder)) {
    for minor in [0, 1, 2] {
        for order in [ByteOrder::Little, ByteOrder::Big] {
            check(minor, order);
        }
    }
}

/// Conformance: replies - NO_EXCEPTION, USER_EXCEPTION, SYSTEM_EXCEPTION
#[test]
fn results_are_read() {
    each_form(|minor, order| {
        let result = outcome(minor, order, ReplyStatus::NoException, |w| {
            w.write_u32(0xFFFF_FFFE);
        });
        assert_eq!(result.unwrap(), -2);
    });
}

/// Conformance: replies - NO_EXCEPTION, USER_EXCEPTION, SYSTEM_EXCEPTION
#[test]
fn a_user_exception_is_read() {
    each_form(|minor, order| {
        let result = outcome(minor, order, ReplyStatus::UserException, |w| {
            w.write_name("IDL:Probe/Refused:1.0");
            w.write_u32(12);
            w.write_name("because");
        });
        match result {
            Err(RefusedError::Refused(refused)) => {
                assert_eq!((refused.code, refused.why.as_str()), (12, "because"));
            }
            other => panic!("{other:?}"),
        }
    });
}

/// Conformance: replies - an exception that is not standard, or not declared: UNKNOWN
#[test]
fn a_user_exception_that_is_not_declared_is_unknown() {
    each_form(|minor, order| {
        let result = outcome(minor, order, ReplyStatus::UserException, |w| {
            w.write_name("IDL:Other/Trouble:1.0");
        });
        match result {
            Err(RefusedError::System(exception)) => {
                let unlisted = SystemException::omg(ExceptionKind::Unknown, 1, exception.completed);
                assert_eq!(exception, unlisted);
            }
            other => panic!("{other:?}"),
        }
    });
}

/// Conformance: replies - NO_EXCEPTION, USER_EXCEPTION, SYSTEM_EXCEPTION
#[test]
fn every_system_exception_is_read_with_its_minor_and_completion() {
    for kind in ExceptionKind::ALL {
        for completed in [Completion::Yes, Completion::No, Completion::Maybe] {
            let result = outcome(2, ByteOrder::Big, ReplyStatus::SystemException, |w| {
                w.write_name(kind.repository_id());
                w.write_u32(0x4154_0001);
                w.write_u32(completed as u32);
            });
            match result {
                Err(RefusedError::System(exception)) => {
                    assert_eq!(
                        exception,
                        SystemException::new(*kind, 0x4154_0001, completed)
                    );
                }
                other => panic!("{other:?}"),
            }
        }
    }
}

/// Conformance: replies - an exception that is not standard, or not declared: UNKNOWN
#[test]
fn a_system_exception_with_an_unknown_id_is_unknown() {
    each_form(|minor, order| {
        let result = outcome(minor, order, ReplyStatus::SystemException, |w| {
            w.write_name("IDL:omg.org/CORBA/NEWER_THAN_US:1.0");
            w.write_u32(3);
            w.write_u32(0);
        });
        match result {
            Err(RefusedError::System(exception)) => {
                assert_eq!(exception.kind, ExceptionKind::Unknown);
            }
            other => panic!("{other:?}"),
        }
    });
}

/// Conformance: replies - results that cannot be read: MARSHAL, COMPLETED_YES
#[test]
fn results_that_cannot_be_read_are_a_marshalling_error_after_the_fact() {
    each_form(|minor, order| {
        let result = outcome(minor, order, ReplyStatus::NoException, |w| w.write_u8(1));
        match result {
            Err(RefusedError::System(exception)) => {
                assert_eq!(exception.kind, ExceptionKind::Marshal);
                assert_eq!(exception.completed, Completion::Yes);
            }
            other => panic!("{other:?}"),
        }
    });
}
