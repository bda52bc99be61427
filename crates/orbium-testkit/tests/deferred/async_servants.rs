// SPDX-License-Identifier: MIT OR Apache-2.0
//! `async fn` servants, many of them open at once.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use orbium::giop::ReplyStatus;
use orbium::{
    Config, ExceptionKind, Orb,
    asynchronous::{AsyncCall, AsyncServant},
    config::{Limits, ServerStrategy},
};
use orbium_executor::{Policy, SchedulerContext, TaskQos};
use orbium_testkit::{
    Peer, RequestLine, each_strategy, eventually, held_octets, in_own_process, request, threads,
    within,
};

use crate::fixture::with_strategy;
use crate::later::{Clerk, ClerkAsyncServant, RefusedError};

/// Futures that wait for one event.
#[derive(Default)]
struct Event {
    happened: AtomicBool,
    waiting: Mutex<Vec<Waker>>,
}

impl Event {
    fn poll(&self, context: &Context<'_>) -> Poll<()> {
        let mut waiting = self.waiting.lock().unwrap();
        if self.happened.load(Ordering::Acquire) {
            return Poll::Ready(());
        }
        waiting.push(context.waker().clone());
        Poll::Pending
    }

    fn happen(&self) {
        let waiting = {
            let mut waiting = self.waiting.lock().unwrap();
            self.happened.store(true, Ordering::Release);
            std::mem::take(&mut *waiting)
        };
        waiting.into_iter().for_each(Waker::wake);
    }
}

/// Answers when the event has happened.
struct Patient {
    event: Arc<Event>,
    open: Arc<AtomicUsize>,
}

/// Counts the futures that exist.
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl ClerkAsyncServant for Patient {
    async fn wait(&self, _: AsyncCall, number: i32) -> Result<i32, RefusedError> {
        self.open.fetch_add(1, Ordering::AcqRel);
        let _open = Counted(Arc::clone(&self.open));
        std::future::poll_fn(|context| self.event.poll(context)).await;
        Ok(number + 1)
    }
}

/// An ORB with an object that answers at an event.
struct Served {
    orb: Orb,
    /// Runs the functions.
    _context: SchedulerContext,
    event: Arc<Event>,
    open: Arc<AtomicUsize>,
    clerk: Clerk,
}

impl Served {
    fn new(config: Config, threads: usize) -> Self {
        let orb = Orb::builder().config(config).build().unwrap();
        orb.root_poa().manager().activate().unwrap();
        let (event, open) = (Arc::<Event>::default(), Arc::default());
        let servant = Patient {
            event: Arc::clone(&event),
            open: Arc::clone(&open),
        };
        let context = SchedulerContext::builder("functions")
            .policy(Policy::Edf)
            .threads(threads)
            .max_tasks(CONNECTIONS * EACH)
            .build()
            .unwrap();
        let qos = TaskQos::default().deadline(Duration::from_millis(5));
        let servant = AsyncServant::new(servant, context.executor(qos));
        let clerk: Clerk = orb.root_poa().activate(servant).unwrap();
        orb.bind_key_in_place("Target", &clerk).unwrap();
        Self {
            orb,
            _context: context,
            event,
            open,
            clerk,
        }
    }

    fn connect(&self) -> Peer {
        Peer::connect(self.orb.addresses().unwrap()[0].port)
    }

    fn end(self) {
        within("shutdown", move || self.orb.shutdown(true).unwrap());
    }
}

fn ask(id: u32) -> Vec<u8> {
    request(RequestLine::new(id, "wait"), |w| w.write_u32(id))
}

/// Conformance: RT GOPI 3.2.1 - scheduler contexts: asynchronous servants are tasks of one - by deadline, on two threads
/// Conformance: Messaging - asynchronous method handling: `async fn` servants - with every server strategy, on two threads
#[test]
fn async_functions_are_open_while_others_are_served() {
    each_strategy(|strategy| {
        let served = Served::new(with_strategy(strategy), 2);
        let mut peer = served.connect();
        for id in 1..=20 {
            peer.send(&ask(id));
        }
        eventually("all are open", || served.open.load(Ordering::Acquire) == 20);
        served.event.happen();
        let mut seen: Vec<_> = (0..20)
            .map(|_| {
                let (id, status, _) = peer.receive().reply();
                assert_eq!(status, ReplyStatus::NoException);
                id
            })
            .collect();
        seen.sort_unstable();
        assert!(seen.into_iter().eq(1..=20));
        served.end();
    });
}

/// Conformance: Messaging - asynchronous method handling: `async fn` servants - bounded, TRANSIENT 1 beyond
#[test]
fn open_async_functions_are_bounded() {
    let config = Config {
        limits: Limits {
            open_requests: 3,
            ..Limits::default()
        },
        ..with_strategy(ServerStrategy::Reactive)
    };
    let served = Served::new(config, 1);
    let mut peer = served.connect();
    for id in 1..=3 {
        peer.send(&ask(id));
    }
    eventually("three are open", || {
        served.open.load(Ordering::Acquire) == 3
    });
    let client = orbium_testkit::client();
    let remote = seen_clerk(&client, &served);
    let Err(RefusedError::System(exception)) = remote.wait(4) else {
        panic!("a system exception");
    };
    assert_eq!(exception.kind, ExceptionKind::Transient);
    served.event.happen();
    for _ in 0..3 {
        assert_eq!(peer.receive().reply().1, ReplyStatus::NoException);
    }
    assert_eq!(remote.wait(5), Ok(6));
    client.shutdown(true).unwrap();
    served.end();
}

fn seen_clerk(client: &Orb, served: &Served) -> Clerk {
    let text = served.orb.object_to_string(&served.clerk);
    orbium::narrow(client.string_to_object(&text).unwrap()).unwrap()
}

/// Conformance: Messaging - asynchronous method handling: `async fn` servants - dropped when the client is gone
#[test]
fn an_async_function_is_dropped_when_the_client_is_gone() {
    each_strategy(|strategy| {
        let served = Served::new(with_strategy(strategy), 1);
        let mut peer = served.connect();
        peer.send(&ask(1));
        eventually("it is open", || served.open.load(Ordering::Acquire) == 1);
        drop(peer);
        eventually("it is dropped", || served.open.load(Ordering::Acquire) == 0);
        assert_eq!(served.orb.open_requests().count(), 0);
        served.end();
    });
}

const CONNECTIONS: usize = 8;
const EACH: usize = 12_500;
/// Bytes that an open request may hold on the server, with its task and its future.
const MAX_BYTES_PER_REQUEST: usize = 1024;

fn hold_open() {
    let strategy = ServerStrategy::LeaderFollowers { threads: 2 };
    let served = Served::new(with_strategy(strategy), 2);
    let mut peers: Vec<_> = (0..CONNECTIONS).map(|_| served.connect()).collect();
    let before = (held_octets(), threads());
    for peer in &mut peers {
        for batch in 0..EACH / 100 {
            let ids = (0..100).map(|id| u32::try_from(batch * 100 + id).unwrap());
            peer.send(&ids.flat_map(ask).collect::<Vec<_>>());
        }
    }
    let count = CONNECTIONS * EACH;
    eventually("all are open", || {
        served.open.load(Ordering::Acquire) == count
    });
    assert_eq!(served.orb.open_requests().count(), count);
    let held = held_octets().saturating_sub(before.0) / count;
    println!("{count} open async functions, {held} bytes each");
    assert!(
        held <= MAX_BYTES_PER_REQUEST,
        "{held} bytes for each open async function"
    );
    assert!(threads().saturating_sub(before.1) <= 2);
    let event = Arc::clone(&served.event);
    let waking = thread::spawn(move || event.happen());
    thread::scope(|scope| {
        for peer in &mut peers {
            scope.spawn(move || {
                for _ in 0..EACH {
                    assert_eq!(peer.receive().reply().1, ReplyStatus::NoException);
                }
            });
        }
    });
    waking.join().unwrap();
    eventually("none is open", || served.orb.open_requests().count() == 0);
    drop(peers);
    served.end();
}

/// Conformance: Messaging - asynchronous method handling: `async fn` servants - 100,000 open on four threads, at most 1 KiB each
#[test]
fn a_hundred_thousand_async_functions_are_open_on_four_threads() {
    in_own_process!(hold_open);
}
