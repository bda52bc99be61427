// SPDX-License-Identifier: MIT OR Apache-2.0
//! The policies of calls as seen by interceptors.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use orbium::interceptor::{
    ClientInterceptor, ClientRequest, Interceptors, Interrupt, Policy, ReceiveOther, ReceiveReply,
    SendPoll, SendRequest,
};
use orbium::{
    Completion, ExceptionKind, Interface, Orb, SystemException,
    asynchronous::Asynchronous,
    policy::{SetOverride, SyncScope, policy_type},
};
use orbium_cdr::{Decode, Encode};
use orbium_core::Operation;
use orbium_testkit::probe::Target;

use crate::Tested;
use crate::recorder::{Journal, plain_server, seen_by};

const REGION: u32 = 0x4F52_4285;
const TENANT: u32 = 0x4F52_4286;

static ECHO_LONG: Operation = Operation::new("echo_long");

/// Records the policies of each call.
#[derive(Clone, Default)]
struct Asking {
    journal: Journal,
    within: Arc<Mutex<Option<Duration>>>,
}

impl Asking {
    fn note(&self, point: &str, call: &ClientRequest<'_>) {
        let text = |it: Policy| it.value::<&'static str>().copied().unwrap_or_default();
        let [region, tenant] = [REGION, TENANT].map(|it| call.request_policy(it).map_or("", text));
        self.journal.note(format!("{point}: {region}, {tenant}"));
        let none = call.request_policy(TENANT + 1).unwrap_err();
        let expected = SystemException::omg(ExceptionKind::InvPolicy, 2, Completion::No);
        assert_eq!(none, expected);
        let within = call.request_policy(policy_type::RELATIVE_ROUNDTRIP_TIMEOUT);
        *self.within.lock().unwrap() = within.ok().and_then(|it| it.value().copied());
    }
}

impl ClientInterceptor for Asking {
    fn send_request(&self, request: &mut SendRequest<'_>) -> Result<(), Interrupt> {
        self.note("send_request", request);
        Ok(())
    }

    fn send_poll(&self, request: &mut SendPoll<'_>) -> Result<(), SystemException> {
        self.note("send_poll", request);
        Ok(())
    }

    fn receive_reply(&self, reply: &mut ReceiveReply<'_>) -> Result<(), SystemException> {
        self.note("receive_reply", reply);
        Ok(())
    }

    fn receive_other(&self, reply: &mut ReceiveOther<'_>) -> Result<(), Interrupt> {
        self.note("receive_other", reply);
        Ok(())
    }
}

/// A client that records policies, with one of its own, and an object with another.
fn asking() -> Result<(Asking, Orb, Target, impl Sized), Box<dyn std::error::Error>> {
    let (server, asking) = (plain_server(), Asking::default());
    let mut interceptors = Interceptors::new();
    interceptors.add_client(asking.clone())?;
    interceptors.add_policy(Policy::new(REGION, "everywhere"));
    let orb = Orb::builder().interceptors(interceptors).build()?;
    let target = seen_by(&orb, &server.target);
    let tenant = [Policy::new(TENANT, "blue")];
    let target = target.with_policies(&tenant, SetOverride::Add)?;
    Ok((asking, orb, target, server))
}

/// Conformance: PI - get_request_policy: of the reference, the thread and the ORB; INV_POLICY 2
#[test]
fn interceptors_see_the_policies_of_calls() -> Tested {
    let (asking, orb, target, _server) = asking()?;
    assert_eq!(target.echo_long(7)?, 7);
    let seen = [
        "send_request: everywhere, blue",
        "receive_reply: everywhere, blue",
    ];
    assert_eq!(asking.journal.take(), seen);
    assert_eq!(*asking.within.lock().unwrap(), None);
    let hour = Duration::from_secs(3600);
    let of_thread = [
        Policy::new(REGION, "north"),
        Policy::new(policy_type::RELATIVE_ROUNDTRIP_TIMEOUT, hour),
    ];
    orb.set_thread_policies(&of_thread, SetOverride::Add)?;
    assert_eq!(target.echo_long(7)?, 7);
    let seen = ["send_request: north, blue", "receive_reply: north, blue"];
    assert_eq!(asking.journal.take(), seen);
    assert_eq!(*asking.within.lock().unwrap(), Some(hour));
    Ok(())
}

/// Conformance: PI - get_request_policy: of the reference, the thread and the ORB; INV_POLICY 2
#[test]
fn an_asynchronous_call_keeps_the_policies_of_its_caller() -> Tested {
    let (asking, orb, target, _server) = asking()?;
    orb.set_thread_policies(&[Policy::new(REGION, "north")], SetOverride::Add)?;
    let object = target.as_object();
    let call: Asynchronous<i32> = object.call_async(&ECHO_LONG, 7, Encode::encode, i32::decode);
    assert_eq!(call.wait()?, 7);
    let points = [
        "send_request",
        "receive_other",
        "send_poll",
        "receive_reply",
    ];
    let seen = points.map(|it| format!("{it}: north, blue"));
    assert_eq!(asking.journal.take(), seen);
    Ok(())
}

/// Records the sync scope of each call.
#[derive(Clone, Default)]
struct Scopes(Journal);

impl ClientInterceptor for Scopes {
    fn send_request(&self, request: &mut SendRequest<'_>) -> Result<(), Interrupt> {
        let what = format!("{} {}", request.operation(), request.sync_scope());
        self.0.note(what);
        Ok(())
    }

    fn receive_other(&self, reply: &mut ReceiveOther<'_>) -> Result<(), Interrupt> {
        self.0.note(format!("sent {}", reply.sync_scope()));
        Ok(())
    }
}

/// Conformance: PI - sync_scope of oneways: that of SyncScopePolicy
#[test]
fn the_sync_scope_of_a_oneway_is_that_of_its_policy() -> Tested {
    let (server, scopes) = (plain_server(), Scopes::default());
    let mut interceptors = Interceptors::new();
    interceptors.add_client(scopes.clone())?;
    let orb = Orb::builder().interceptors(interceptors).build()?;
    let target = seen_by(&orb, &server.target);
    let all = [
        (SyncScope::None, 0),
        (SyncScope::WithTransport, 1),
        (SyncScope::WithServer, 2),
        (SyncScope::WithTarget, 3),
    ];
    for (scope, number) in all {
        let target = target.with_sync_scope(scope);
        target.post(1)?;
        let seen = [format!("post {number}"), format!("sent {number}")];
        assert_eq!(scopes.0.take(), seen);
        target.noop()?;
        assert_eq!(scopes.0.take(), ["noop 3"]);
    }
    Ok(())
}
