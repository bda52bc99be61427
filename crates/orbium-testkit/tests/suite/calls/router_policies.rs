// SPDX-License-Identifier: MIT OR Apache-2.0
//! The policies of Messaging for routers: RequestPriority, ReplyPriority, Routing, MaxHops and
//! QueueOrder.

use std::time::Duration;

use orbium::giop::time::EndTimes;
use orbium::giop::{Ior, ServiceContext, TaggedComponent, service_context};
use orbium::interceptor::{Policy, PolicyError};
use orbium::policy::router_policies::{
    PriorityRange, QUEUE_ORDER_POLICY, QueueOrder, ROUTE_FORWARD, ROUTE_STORE_AND_FORWARD,
    RouterPolicies, RoutingTypeRange,
};
use orbium::{
    Any, Completion, ExceptionKind, Interface, SystemException,
    asynchronous::Asynchronous,
    config::ServerStrategy,
    poa::{PoaError, Policies},
    policy::{OverrideError, SetOverride, policy_type},
};
use orbium_cdr::{Decode, Encode};
use orbium_core::Operation;
use orbium_giop::{ReplyHeader, SystemExceptionBody};
use orbium_testkit::probe::Target;
use orbium_testkit::{
    FakeServer, Peer, Request, RequestLine, Served, client, each_strategy, reach, reference,
    request, within,
};

static ECHO_LONG: Operation = Operation::new("echo_long");
const LONG: Duration = Duration::from_secs(3600);

/// Values of all five.
fn values() -> RouterPolicies {
    RouterPolicies {
        request_priority: Some(PriorityRange { min: 1, max: 5 }),
        reply_priority: Some(PriorityRange { min: 2, max: 2 }),
        routing: Some(RoutingTypeRange { min: 0, max: 2 }),
        max_hops: Some(3),
        queue_order: Some(QueueOrder::PRIORITY | QueueOrder::DEADLINE),
    }
}

fn policies(of: RouterPolicies) -> Vec<Policy> {
    fn one<T: Send + Sync + 'static>(kind: u32, value: Option<T>) -> Option<Policy> {
        value.map(|value| Policy::new(kind, value))
    }
    [
        one(policy_type::REQUEST_PRIORITY, of.request_priority),
        one(policy_type::REPLY_PRIORITY, of.reply_priority),
        one(policy_type::ROUTING, of.routing),
        one(policy_type::MAX_HOPS, of.max_hops),
        one(policy_type::QUEUE_ORDER, of.queue_order),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn with(target: &Target, values: RouterPolicies) -> Target {
    target
        .with_policies(&policies(values), SetOverride::Add)
        .unwrap()
}

fn at(server: &FakeServer, components: &[TaggedComponent]) -> Ior {
    reference(2, &[server.port()], b"x", components)
}

/// The policies that a request carries, in one service context.
fn carried(request: &Request) -> RouterPolicies {
    let is_wanted = |id| id == service_context::INVOCATION_POLICIES;
    let mut contexts = request.contexts.iter().filter(|(id, _)| is_wanted(*id));
    let data = contexts.next().map(|(_, data)| data);
    assert!(contexts.next().is_none());
    data.map_or(RouterPolicies::NONE, |data| {
        RouterPolicies::decode(data).unwrap()
    })
}

/// A call on a thread of its own, prepared there, and what the server receives.
fn received(
    server: &FakeServer,
    target: &Target,
    call: impl FnOnce(&Target) -> Result<i32, SystemException> + Send + 'static,
) -> Request {
    let target = target.clone();
    let call = orbium_testkit::spawn(move || call(&target));
    let mut peer = server.accept();
    let request = peer.expect_request("echo_long");
    peer.answer(&request, |w| w.write_u32(1));
    assert_eq!(within("the call", move || call.join().unwrap()), Ok(1));
    peer.close();
    request
}

/// Conformance: Messaging - policies for routers - of references, threads and the ORB, carried by every request
#[test]
fn requests_carry_the_policies_of_the_narrowest_scope() {
    let (server, client) = (FakeServer::listen(), client());
    let target = reach(&client, &at(&server, &[]).to_string());
    let call = |it: &Target| it.echo_long(1);
    assert_eq!(
        carried(&received(&server, &target, call)),
        RouterPolicies::NONE
    );
    let own = with(&target, values());
    assert_eq!(carried(&received(&server, &own, call)), values());
    let hops = |hops| RouterPolicies {
        max_hops: Some(hops),
        ..RouterPolicies::NONE
    };
    let of_orb = RouterPolicies {
        queue_order: Some(QueueOrder::ANY),
        ..hops(20)
    };
    client
        .policy_manager()
        .set_policies(&policies(of_orb), SetOverride::Set)
        .unwrap();
    assert_eq!(carried(&received(&server, &target, call)), of_orb);
    let orb = client.clone();
    let of_thread = move |it: &Target| {
        let own = policies(hops(10));
        orb.set_thread_policies(&own, SetOverride::Set).unwrap();
        it.echo_long(1)
    };
    let merged = RouterPolicies {
        max_hops: Some(10),
        ..of_orb
    };
    let request = received(&server, &target, of_thread.clone());
    assert_eq!(carried(&request), merged);
    let request = received(&server, &with(&target, hops(5)), of_thread);
    assert_eq!(carried(&request).max_hops, Some(5));
    client
        .policy_manager()
        .set_policies(&[], SetOverride::Set)
        .unwrap();
    assert_eq!(
        carried(&received(&server, &target, call)),
        RouterPolicies::NONE
    );
}

/// Conformance: Messaging - policies for routers - of references, threads and the ORB, carried by every request
#[test]
fn oneways_and_asynchronous_requests_carry_them_too() {
    let (server, client) = (FakeServer::listen(), client());
    let target = with(&reach(&client, &at(&server, &[]).to_string()), values());
    let request = received(&server, &target, |it| {
        let object = it.as_object();
        let call: Asynchronous<i32> = object.call_async(&ECHO_LONG, 1, Encode::encode, i32::decode);
        call.wait()
    });
    assert_eq!(carried(&request), values());
    let server = FakeServer::listen();
    let target = with(&reach(&client, &at(&server, &[]).to_string()), values());
    let post = orbium_testkit::spawn(move || target.post(1));
    assert_eq!(carried(&server.accept().expect_request("post")), values());
    within("the oneway", move || post.join().unwrap()).unwrap();
}

/// Conformance: Messaging - policies for routers - in INVOCATION_POLICIES, with deadlines
#[test]
fn deadlines_are_in_the_same_context() {
    let (server, client) = (FakeServer::listen(), client());
    let target = reach(&client, &at(&server, &[]).to_string());
    let timed = with(&target.with_timeout(LONG), values());
    let request = received(&server, &timed, |it| it.echo_long(1));
    assert_eq!(carried(&request), values());
    let find = |id| request.contexts.iter().find(|(found, _)| *found == id);
    let (_, data) = find(service_context::INVOCATION_POLICIES).unwrap();
    assert!(EndTimes::decode(data).unwrap().reply.is_some());
    assert!(find(service_context::ORBIUM_TIME_LEFT).is_some());
}

/// Conformance: Messaging - policies for routers - create_policy: values, and PolicyError; ROUTE_FORWARD and ROUTE_STORE_AND_FORWARD as the least: UNSUPPORTED_POLICY_VALUE
#[test]
fn policies_are_made_of_their_values() {
    let client = client();
    let priorities = PriorityRange { min: -1, max: 7 };
    let routing = |min, max| Any::new(&RoutingTypeRange { min, max }).unwrap();
    for kind in [policy_type::REQUEST_PRIORITY, policy_type::REPLY_PRIORITY] {
        let policy = client.create_policy(kind, &Any::new(&priorities).unwrap());
        assert_eq!(policy.unwrap().value(), Some(&priorities));
    }
    let direct = client.create_policy(33, &routing(0, 2)).unwrap();
    let range = RoutingTypeRange { min: 0, max: 2 };
    assert_eq!(direct.value(), Some(&range));
    let hops = client.create_policy(34, &Any::from(9u16)).unwrap();
    assert_eq!(hops.value(), Some(&9u16));
    let order = client.create_policy(35, &Any::from(6u16)).unwrap();
    assert_eq!(
        order.value(),
        Some(&(QueueOrder::TEMPORAL | QueueOrder::PRIORITY))
    );
    let empty = Any::new(&PriorityRange { min: 2, max: 1 }).unwrap();
    let unsupported = PolicyError::UnsupportedPolicyValue;
    let refused = [
        (25, empty.clone(), PolicyError::BadPolicyValue),
        (26, empty, PolicyError::BadPolicyValue),
        (26, Any::from(1i16), PolicyError::BadPolicyValue),
        (33, routing(2, 0), PolicyError::BadPolicyValue),
        (33, routing(0, 3), PolicyError::BadPolicyValue),
        (33, routing(-1, 0), PolicyError::BadPolicyValue),
        (33, routing(ROUTE_FORWARD, ROUTE_FORWARD), unsupported),
        (
            33,
            routing(ROUTE_FORWARD, ROUTE_STORE_AND_FORWARD),
            unsupported,
        ),
        (
            33,
            routing(ROUTE_STORE_AND_FORWARD, ROUTE_STORE_AND_FORWARD),
            unsupported,
        ),
        (34, Any::from(9u32), PolicyError::BadPolicyValue),
        (35, Any::from(0u16), PolicyError::BadPolicyValue),
        (35, Any::from(16u16), PolicyError::BadPolicyValue),
    ];
    for (kind, value, reason) in refused {
        let made = client.create_policy(kind, &value);
        assert_eq!(made.err(), Some(reason), "{kind}");
    }
}

/// Conformance: Messaging - policies for routers - set_policy_overrides of values that nothing satisfies: InvalidPolicies
#[test]
fn values_that_nothing_satisfies_are_not_set() {
    let client = client();
    let target = reach(&client, "corbaloc::localhost:1/x");
    let wrong = [
        Policy::new(policy_type::MAX_HOPS, 1u16),
        Policy::new(
            policy_type::REQUEST_PRIORITY,
            PriorityRange { min: 1, max: 0 },
        ),
        Policy::new(policy_type::ROUTING, RoutingTypeRange { min: 1, max: 2 }),
        Policy::new(policy_type::QUEUE_ORDER, QueueOrder(0)),
        Policy::new(policy_type::REPLY_PRIORITY, 3i16),
    ];
    let invalid = OverrideError::InvalidPolicies(vec![1, 2, 3, 4]);
    let refused = target.with_policies(&wrong, SetOverride::Set);
    assert_eq!(refused.err(), Some(invalid.clone()));
    let refused = client.set_thread_policies(&wrong, SetOverride::Set);
    assert_eq!(refused, Err(invalid.clone()));
    assert_eq!(
        client
            .policy_manager()
            .set_policies(&wrong, SetOverride::Set),
        Err(invalid)
    );
    assert!(client.policies(&[]).is_empty());
}

/// Conformance: Messaging - policies for routers - ranges and orders of client and reference intersect; none in common: INV_POLICY 1
#[test]
fn the_policies_of_the_reference_are_reconciled_with_them() {
    let (server, client) = (FakeServer::listen(), client());
    let published = RouterPolicies {
        request_priority: Some(PriorityRange { min: 4, max: 10 }),
        queue_order: Some(QueueOrder::DEADLINE),
        ..RouterPolicies::NONE
    };
    let mut components = Vec::new();
    published.publish_in(&mut components);
    let target = reach(&client, &at(&server, &components).to_string());
    let request = received(&server, &target, |it| it.echo_long(1));
    assert_eq!(carried(&request), RouterPolicies::NONE);
    let both = PriorityRange { min: 4, max: 5 };
    let suited = with(&target, values());
    let request = received(&server, &suited, |it| it.echo_long(1));
    assert_eq!(carried(&request).request_priority, Some(both));
    assert_eq!(carried(&request).queue_order, Some(QueueOrder::DEADLINE));
    assert_eq!(carried(&request).reply_priority, values().reply_priority);
    let kind = policy_type::REQUEST_PRIORITY;
    let reconciled = suited.policy(kind).unwrap().unwrap();
    assert_eq!(reconciled.value(), Some(&both));
    let set = suited.client_policy(kind).unwrap();
    assert_eq!(set.value(), values().request_priority.as_ref());
    let unsuited = with(
        &target,
        RouterPolicies {
            request_priority: Some(PriorityRange { min: 11, max: 12 }),
            ..RouterPolicies::NONE
        },
    );
    let exception = SystemException::omg(ExceptionKind::InvPolicy, 1, Completion::No);
    assert_eq!(unsuited.echo_long(1), Err(exception));
    assert_eq!(unsuited.policy(kind).err(), Some(exception));
    assert_eq!(unsuited.as_object().inconsistent_policies(), [kind]);
}

/// Conformance: Messaging - policies for routers - of adapters: published by references (TAG_POLICIES), InvalidPolicy otherwise
#[test]
fn adapters_publish_them() {
    let served = Served::new(ServerStrategy::Reactive);
    let root = served.orb.root_poa();
    let of_adapter = |routers| Policies {
        routers,
        ..Policies::default()
    };
    let published = RouterPolicies {
        max_hops: None,
        ..values()
    };
    let poa = root.create_poa("queued", Some(root.manager()), of_adapter(published));
    let object: Target = poa.unwrap().create_reference().unwrap();
    let profile = object.as_object().ior().iiop_profiles().next().unwrap();
    assert_eq!(RouterPolicies::find(&profile.components), published);
    let order = RouterPolicies {
        queue_order: Some(QueueOrder(0)),
        ..published
    };
    for (wrong, kind) in [
        (values(), policy_type::MAX_HOPS),
        (order, QUEUE_ORDER_POLICY),
    ] {
        let refused = root.create_poa("wrong", None, of_adapter(wrong));
        let place = (kind - 16) as u16;
        assert_eq!(refused.err(), Some(PoaError::InvalidPolicy(place)));
    }
    served.end();
}

/// Sends a request with INVOCATION_POLICIES; the exception that it is answered with.
fn answered(peer: &mut Peer, data: &[u8]) -> Option<ExceptionKind> {
    let contexts = [ServiceContext {
        id: service_context::INVOCATION_POLICIES,
        data,
    }];
    let line = RequestLine {
        contexts: &contexts,
        ..RequestLine::new(2, "noop")
    };
    peer.send(&request(line, |_| {}));
    let reply = peer.receive();
    let exception = reply.reply().1 == orbium::giop::ReplyStatus::SystemException;
    exception.then(|| {
        reply.read(|reader| {
            ReplyHeader::read(reader, 2).unwrap();
            SystemExceptionBody::read(reader).unwrap().exception().kind
        })
    })
}

/// Conformance: Messaging - policies for routers - servers refuse what no request satisfies: INV_POLICY; malformed: MARSHAL
#[test]
fn servers_refuse_what_nothing_satisfies() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let mut peer = Peer::connect(served.port());
        let ends = EndTimes::default();
        let good = values().encode_behind(&ends);
        assert_eq!(answered(&mut peer, &good), None);
        let empty = RouterPolicies {
            reply_priority: Some(PriorityRange { min: 9, max: -9 }),
            ..values()
        };
        let routed = RouterPolicies {
            routing: Some(RoutingTypeRange { min: 1, max: 1 }),
            ..values()
        };
        for wrong in [empty, routed] {
            let data = wrong.encode_behind(&ends);
            let refused = answered(&mut peer, &data);
            assert_eq!(refused, Some(ExceptionKind::InvPolicy));
        }
        let cut = &good[..good.len() - 1];
        assert_eq!(answered(&mut peer, cut), Some(ExceptionKind::Marshal));
        assert_eq!(answered(&mut peer, &good), None);
        assert_eq!(served.state.calls(), 2);
        served.end();
    });
}
