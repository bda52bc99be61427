// SPDX-License-Identifier: MIT OR Apache-2.0
//! Service contexts of callers and servants, without an interceptor.

use orbium::interceptor::{Interceptors, ReplyContexts};
use orbium::{
    Completion, Config, ExceptionKind, Interface, Orb, SystemException, config::GiopMinor,
};
use orbium_cdr::{Decode, Encode};
use orbium_core::Operation;
use orbium_testkit::probe::Target;

use crate::Tested;
use crate::recorder::{Server, client_orb, plain_server, seen_by, serve};

const TAG: u32 = 0x4F52_4273;
const OTHER: u32 = 0x4F52_4274;

static ACT: Operation = Operation::new("act");

/// A servant that answers the context of a request with one in the reply, and raises an exception
/// with it for a negative number.
fn answering(interceptors: Interceptors) -> Server {
    let server = serve(interceptors);
    server.state.on_act(|call, number| {
        let asked = call.service_context(TAG).unwrap_or(b"nothing");
        call.add_reply_service_context(TAG, [asked, b" answered"].concat(), false)?;
        if number < 0 {
            Err(ExceptionKind::NoMemory.into())
        } else {
            Ok(number)
        }
    });
    server
}

fn adding() -> Interceptors {
    Interceptors::new().with_reply_contexts()
}

fn replied(contexts: &ReplyContexts) -> Vec<u8> {
    contexts
        .get()
        .get(TAG)
        .map(<[u8]>::to_vec)
        .unwrap_or_default()
}

fn act_async(target: &Target, number: i32) -> orbium::asynchronous::Asynchronous<i32> {
    let object = target.as_object();
    object.call_async(&ACT, number, Encode::encode, i32::decode)
}

/// Conformance: PI - service contexts by hand: of a caller to the servant, and of the servant back
#[test]
fn contexts_go_with_requests_and_replies_of_every_sort_of_call() -> Tested {
    let server = answering(adding());
    let orb = client_orb([]);
    for target in [seen_by(&orb, &server.target), server.target.clone()] {
        let contexts = ReplyContexts::default();
        let target = target
            .with_service_context(TAG, b"early")
            .with_service_context(OTHER, b"other")
            .with_service_context(TAG, b"question")
            .with_reply_contexts(&contexts);
        assert_eq!(target.act(1)?, 1);
        assert_eq!(replied(&contexts), b"question answered");
        target.noop()?;
        assert_eq!(replied(&contexts), b"", "those of the last reply");
        assert_eq!(target.act(-1).unwrap_err().kind, ExceptionKind::NoMemory);
        assert_eq!(replied(&contexts), b"question answered");
        target.noop()?;
        assert_eq!(act_async(&target, 3).wait(), Ok(3));
        assert_eq!(replied(&contexts), b"question answered");
    }
    Ok(())
}

/// Conformance: PI - service contexts in every version of GIOP
#[test]
fn contexts_by_hand_go_with_every_version_of_giop() -> Tested {
    let server = answering(adding());
    for minor in 0..=2 {
        let orb = Orb::new(Config {
            giop_minor: GiopMinor::new(minor).ok_or("no such version")?,
            ..Config::default()
        })?;
        let contexts = ReplyContexts::default();
        let target = seen_by(&orb, &server.target).with_reply_contexts(&contexts);
        assert_eq!(target.with_service_context(TAG, b"old").act(9)?, 9);
        assert_eq!(replied(&contexts), b"old answered", "GIOP 1.{minor}");
    }
    Ok(())
}

/// Conformance: PI - service contexts by hand: wrong use
#[test]
fn a_servant_is_refused_a_second_context_of_an_id_and_one_that_nothing_collects() {
    let orb = client_orb([]);
    let wrong_order = |minor| {
        let kind = ExceptionKind::BadInvOrder;
        SystemException::omg(kind, minor, Completion::No)
    };
    let server = serve(adding());
    server.state.on_act(|call, number| {
        call.add_reply_service_context(TAG, b"one", false)?;
        call.add_reply_service_context(TAG, b"two", number == 1)?;
        Ok(number)
    });
    let contexts = ReplyContexts::default();
    let target = seen_by(&orb, &server.target).with_reply_contexts(&contexts);
    assert_eq!(target.act(0), Err(wrong_order(15)));
    assert_eq!(replied(&contexts), b"one");
    assert_eq!(target.act(1), Ok(1));
    assert_eq!(replied(&contexts), b"two");

    let server = plain_server();
    server.state.on_act(|call, number| {
        call.add_reply_service_context(TAG, b"one", false)?;
        Ok(number)
    });
    assert_eq!(seen_by(&orb, &server.target).act(0), Err(wrong_order(14)));
}
