// SPDX-License-Identifier: MIT OR Apache-2.0
//! A process with connections forks, and both go on.
//!
//! Once replies went to the wrong process, and were taken for right there: parent
//! and child received from the same sockets. In three rounds of 300 calls each,
//! exclusive connections gave five wrong answers, those of threads six in two, one
//! shared by leaders and followers was out of step, and with a thread of its own the
//! child waited for ever.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use orbium::giop::minor;
use orbium::{
    Completion, Config, ExceptionKind, Interface, ObjectRef, Orb, SystemException,
    asynchronous::Asynchronous, config::ClientStrategy, poa::PoaError,
};
use orbium_cdr::{Decode, Encode};
use orbium_core::Operation;
use orbium_testkit::probe::Target;
use orbium_testkit::{
    Served, calling_by, descriptors, each_client_strategy, eventually, in_child, in_own_process,
    within,
};
use orbium_transport::StreamTransport;

const CALLS: i32 = 300;

/// Endpoints by which another process is reached.
const TRANSPORTS: [&str; 3] = ["iiop://127.0.0.1:0", "uiop://", "shmiop://"];

static ECHO_LONG: Operation = Operation::new("echo_long");
static GATE: Operation = Operation::new("gate");

fn served(endpoint: &str) -> Served {
    Served::with(Config {
        endpoints: vec![endpoint.parse().unwrap()],
        ..Config::default()
    })
}

fn forked() -> SystemException {
    SystemException::orbium(ExceptionKind::BadInvOrder, minor::FORKED, Completion::No)
}

/// Calls whose results tell whose they are.
fn call(target: &Target, caller: i32) {
    for number in 0..CALLS {
        let own = caller * 1_000_000 + number;
        assert_eq!(target.echo_long(own), Ok(own), "caller {caller}");
    }
}

/// Has some connections that are idle, where calls do not share one.
fn warm(target: &Target) {
    thread::scope(|scope| {
        for caller in 0..4 {
            scope.spawn(move || call(target, 100 + caller));
        }
    });
    call(target, 0);
}

fn each_way(test: impl Fn(ClientStrategy, &str)) {
    each_client_strategy(|strategy| {
        for transport in TRANSPORTS {
            eprintln!("over {transport}");
            test(strategy, transport);
        }
    });
}

/// Conformance: forks - parent and child have their own answers, in every client strategy, over
/// TCP, Unix sockets and shared memory
/// Conformance: complaint 19 - calls after `fork` time out
#[test]
fn each_process_has_its_own_answers() {
    in_own_process!(|| {
        each_way(|strategy, transport| {
            let served = served(transport);
            let client = Orb::new(calling_by(strategy)).unwrap();
            let target = served.seen_by(&client);
            warm(&target);
            for round in 0..3 {
                let child = in_child(|| call(&target, 1000 + round));
                call(&target, 1 + round);
                child.join();
            }
            served.end();
        });
    });
}

/// Two children at once, a child of a child, and threads of the child.
///
/// Conformance: forks - parent and child have their own answers, in every client strategy, over
/// TCP, Unix sockets and shared memory
#[test]
fn children_of_children_have_their_own_too() {
    in_own_process!(|| {
        each_client_strategy(|strategy| {
            let served = served("iiop://127.0.0.1:0");
            let client = Orb::new(calling_by(strategy)).unwrap();
            let target = served.seen_by(&client);
            warm(&target);
            let children = [1000, 1100].map(|caller| {
                let target = &target;
                in_child(move || {
                    call(target, caller);
                    let grandchild = in_child(|| call(target, caller + 1));
                    let done = Arc::new(AtomicUsize::new(0));
                    let own = (2..6).map(|thread| {
                        let target = target.clone();
                        let done = Arc::clone(&done);
                        let job = Box::new(move || {
                            call(&target, caller + thread);
                            done.fetch_add(1, Ordering::Relaxed);
                        });
                        orbium_sys::spawn("child", None, job).unwrap()
                    });
                    let own: Vec<_> = own.collect();
                    own.into_iter().for_each(orbium_sys::Thread::join);
                    assert_eq!(done.load(Ordering::Relaxed), 4);
                    grandchild.join();
                })
            });
            call(&target, 1);
            for child in children {
                child.join();
            }
            served.end();
        });
    });
}

struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Whatever other threads are about to do, and whatever they have locked: children once waited for the
/// thread that looked up what the system grants as a send buffer.
///
/// Conformance: forks - parent and child have their own answers, in every client strategy, over
/// TCP, Unix sockets and shared memory
#[test]
fn a_child_calls_while_the_threads_of_its_parent_did() {
    in_own_process!(|| {
        each_way(|strategy, transport| {
            let served = served(transport);
            let client = Orb::new(calling_by(strategy)).unwrap();
            let target = served.seen_by(&client);
            let over = AtomicBool::new(false);
            thread::scope(|scope| {
                for caller in 0..3 {
                    let (target, over) = (&target, &over);
                    scope.spawn(move || {
                        while !over.load(Ordering::Relaxed) {
                            let own = target.echo_long(caller);
                            assert_eq!(own, Ok(caller), "of the parent");
                        }
                    });
                }
                // However it ends, the threads do too.
                let _ends = Ends(&over);
                let children: Vec<_> = (0..8)
                    .map(|child| {
                        in_child(|| {
                            for number in 0..10 {
                                let own = 1000 * (child + 1) + number;
                                assert_eq!(target.echo_long(own), Ok(own));
                            }
                        })
                    })
                    .collect();
                children.into_iter().for_each(|child| child.join());
            });
            served.end();
        });
    });
}

/// Calls an operation that has no series yet, at an address where nothing listens.
fn call_a_new_operation(object: &ObjectRef) {
    let operation = Box::leak(Box::new(Operation::new("new")));
    let refused: Result<(), SystemException> = object.call(operation, |_| {}, |_| Ok(()));
    assert_eq!(refused.unwrap_err().kind, ExceptionKind::Transient);
}

/// The child once deadlocked on the lock of the table of series, under which a thread of its
/// parent was adding one.
#[test]
fn a_child_adds_series_while_its_parent_was_adding_some() {
    in_own_process!(|| {
        for _ in 0..60 {
            let client = Orb::builder().metrics().build().unwrap();
            let nowhere = "corbaloc:uiop:/nowhere/at/all|/nothing";
            let object = client.string_to_object(nowhere).unwrap().unwrap();
            let begun = AtomicUsize::new(0);
            thread::scope(|scope| {
                for _ in 0..3 {
                    scope.spawn(|| {
                        for _ in 0..150 {
                            call_a_new_operation(&object);
                            begun.fetch_add(1, Ordering::Relaxed);
                        }
                    });
                }
                while begun.load(Ordering::Relaxed) < 20 {
                    thread::yield_now();
                }
                let child = in_child(|| {
                    (0..20).for_each(|_| call_a_new_operation(&object));
                    let counted = client.metrics().unwrap().snapshot();
                    let counted: u64 = counted.called.iter().map(|it| it.system_exceptions).sum();
                    assert_eq!(counted, 20, "the child's own");
                });
                child.join();
            });
        }
    });
}

/// The first in-process endpoint initialised process-wide values under locks, on which a
/// child could deadlock.
#[test]
fn a_child_makes_in_process_endpoints_while_its_parent_was_making_the_first() {
    let first = || {
        let (transport, properties) = (
            orbium_transport::InProcess,
            orbium_transport::ProtocolProperties::default(),
        );
        let endpoint = "inproc://".parse().unwrap();
        let listening = StreamTransport::listen(&transport, &endpoint, &properties);
        drop(orbium_transport::InProcessStream::pair().unwrap());
        listening.unwrap().address().to_owned()
    };
    in_own_process!(|| {
        for _ in 0..60 {
            // A process that has none yet.
            let parent = in_child(|| {
                let threads = [(); 2].map(|()| {
                    orbium_sys::spawn("first", None, Box::new(move || drop(first()))).unwrap()
                });
                let child = in_child(move || drop(first()));
                child.join();
                let own = first();
                let child = in_child(|| assert_ne!(first(), own));
                child.join();
                threads.into_iter().for_each(orbium_sys::Thread::join);
            });
            parent.join();
        }
    });
}

/// References that were never used, or whose object is elsewhere, and ORBs that the
/// child makes itself.
#[test]
fn references_that_the_parent_never_used_work_in_the_child() {
    in_own_process!(|| {
        let served = served("iiop://127.0.0.1:0");
        let (client, target) = served.client();
        let ior = served.orb.object_to_string(&served.target);
        call(&target, 0);
        let child = in_child(|| {
            call(&served.seen_by(&client), 1000);
            let own = Orb::builder().build().unwrap();
            let object = own.string_to_object(&ior).unwrap().unwrap();
            call(&Target::from_object(object), 1001);
            own.shutdown(true).unwrap();
            client.shutdown(true).unwrap();
            assert_eq!(
                target.echo_long(1).unwrap_err().kind,
                ExceptionKind::BadInvOrder
            );
        });
        child.join();
        call(&target, 1);
        served.end();
    });
}

fn echo(object: &ObjectRef, v: i32) -> Asynchronous<i32> {
    object.call_async(&ECHO_LONG, v, Encode::encode, i32::decode)
}

/// Conformance: forks - parent and child have their own answers, in every client strategy, over
/// TCP, Unix sockets and shared memory - asynchronous calls
/// Conformance: complaint 19 - calls after `fork` time out
#[test]
fn asynchronous_calls_are_their_own_processs_too() {
    in_own_process!(|| {
        each_way(|strategy, transport| {
            let served = served(transport);
            let client = Orb::new(calling_by(strategy)).unwrap();
            let target = served.seen_by(&client);
            let object = target.as_object();
            let many = |caller: i32| {
                let calls: Vec<_> = (0..CALLS)
                    .map(|number| (number, echo(object, caller * 1_000_000 + number)))
                    .collect();
                for (number, call) in calls {
                    assert_eq!(call.wait(), Ok(caller * 1_000_000 + number));
                }
            };
            many(0);
            for round in 0..3 {
                let child = in_child(|| many(1000 + round));
                many(1 + round);
                child.join();
            }
            served.end();
        });
    });
}

/// Once the child waited for ever: what receives the reply is in the parent.
///
/// Conformance: forks - parent and child have their own answers, in every client strategy, over
/// TCP, Unix sockets and shared memory - asynchronous calls
#[test]
fn a_call_under_way_is_its_parents() {
    in_own_process!(|| {
        let served = served("iiop://127.0.0.1:0");
        let (_client, target) = served.client();
        let object = target.as_object();
        let call: Asynchronous<()> = object.call_async(&GATE, (), |(), _| {}, |_| Ok(()));
        served.state.gate.await_waiting(1);
        let mut call = Some(call);
        let child = in_child(|| {
            let lost = call.take().unwrap().wait().unwrap_err();
            assert_eq!((lost.kind, lost.minor), (forked().kind, forked().minor));
            assert_eq!(lost.completed, Completion::Maybe);
            assert_eq!(echo(object, 7).wait(), Ok(7));
        });
        child.join();
        served.state.gate.open();
        assert_eq!(call.take().unwrap().wait(), Ok(()));
        served.end();
    });
}

/// The child cannot serve: the threads are its parent's. It is told so, and what it
/// does to the ORB changes nothing for those that the parent serves.
///
/// Conformance: forks - a listening parent goes on unharmed, and the child says that it cannot
/// serve
#[test]
fn an_orb_that_serves_stays_with_the_parent() {
    in_own_process!(|| {
        for transport in TRANSPORTS {
            let served = served(transport);
            let (client, target) = served.client();
            call(&target, 0);
            let (ior, before) = (
                served.orb.object_to_string(&served.target),
                served.state.calls(),
            );
            let copy = served.clone();
            let child = in_child(move || {
                assert_eq!(copy.orb.run(), Err(forked()));
                assert_eq!(copy.orb.addresses(), Err(forked()));
                let again: Result<Target, _> =
                    copy.orb.root_poa().activate(Arc::clone(&copy.state));
                assert!(matches!(again, Err(PoaError::System(why)) if why == forked()));
                // The object is the parent's, by whatever reference.
                assert_eq!(copy.target.echo_long(1), Ok(1));
                assert_eq!(target.echo_long(1), Ok(1));
                assert_eq!(copy.state.calls(), before, "served by the parent");
                copy.orb.shutdown(true).unwrap();
                drop(copy);
                drop(target);
                client.shutdown(true).unwrap();
            });
            child.join();
            let (_other, target) = served.client();
            call(&target, 2);
            assert_eq!(served.orb.object_to_string(&served.target), ior);
            let orb = served.orb.clone();
            let running = orbium_testkit::spawn(move || orb.run());
            served.end();
            // The end may come before `run` begins.
            let ran = within("run", || running.join().unwrap());
            let over = |why: SystemException| why.kind == ExceptionKind::BadInvOrder;
            assert!(ran.is_ok() || ran.is_err_and(over), "{ran:?}");
        }
    });
}

/// An ORB that has only called can serve, in the child too.
///
/// Conformance: forks - a listening parent goes on unharmed, and the child says that it cannot
/// serve
#[test]
fn an_orb_that_has_not_served_serves_in_the_child() {
    in_own_process!(|| {
        let served = served("iiop://127.0.0.1:0");
        let (client, target) = served.client();
        call(&target, 0);
        let child = in_child(|| {
            client.root_poa().manager().activate().unwrap();
            let own: Target = client
                .root_poa()
                .activate(Arc::clone(&served.state))
                .unwrap();
            let other = Orb::builder().build().unwrap();
            let text = client.object_to_string(&own);
            let object = other.string_to_object(&text).unwrap().unwrap();
            call(&Target::from_object(object), 1000);
            client.shutdown(true).unwrap();
        });
        child.join();
        call(&target, 1);
        served.end();
    });
}

/// What is within a process is not within another: the child is refused, at once.
///
/// Conformance: forks - nothing is left of the parent's connections in the child
#[test]
fn calls_within_the_process_stay_there() {
    in_own_process!(|| {
        each_client_strategy(|strategy| {
            let served = served("inproc://");
            let client = Orb::new(calling_by(strategy)).unwrap();
            let target = served.seen_by(&client);
            warm(&target);
            let child = in_child(|| {
                let refused = target.echo_long(1).unwrap_err();
                let (kind, code) = (ExceptionKind::InvPolicy, minor::NO_USABLE_PROTOCOL);
                assert_eq!(refused, SystemException::orbium(kind, code, Completion::No));
            });
            call(&target, 1);
            child.join();
            served.end();
        });
    });
}

/// A peer hears of the parent's end from the parent, whatever copies there are.
///
/// Conformance: forks - nothing is left of the parent's connections in the child
#[test]
fn a_copy_does_not_keep_a_connection_open() {
    in_own_process!(|| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let tcp = orbium_transport::Tcp;
        let properties = orbium_transport::ProtocolProperties::default();
        let connector = orbium_transport::StreamTransport::connector(&tcp, &address, &properties);
        let stream = connector
            .unwrap()
            .connect(orbium_transport::Deadline::NEVER);
        let (mut peer, _) = listener.accept().unwrap();
        let (mut waits, mut goes_on) = std::io::pipe().unwrap();
        let child = in_child(move || {
            drop(waits.read(&mut [0]));
            drop(stream);
        });
        // Moved into the closure, of which the parent's copy was dropped.
        peer.set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        assert_eq!(peer.read(&mut [0]).unwrap(), 0);
        goes_on.write_all(&[1]).unwrap();
        child.join();
    });
}

/// The copies of idle connections give their descriptors back with the first call.
///
/// Conformance: forks - nothing is left of the parent's connections in the child
#[test]
fn copies_are_closed() {
    in_own_process!(|| {
        let served = served("iiop://127.0.0.1:0");
        let (_client, target) = served.client();
        warm(&target);
        let child = in_child(|| {
            let before = descriptors();
            call(&target, 1000);
            assert!(descriptors() <= before, "one new, the old ones gone");
        });
        child.join();
        eventually("the child's connection is gone", || {
            target.echo_long(1) == Ok(1)
        });
        served.end();
    });
}
