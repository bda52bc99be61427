// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tokens that are dropped, bounds of open requests, and the ends of adapters and ORBs.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;

use orbium::interceptor::{Interceptors, Interrupt, SendException, ServerInterceptor};
use orbium::{
    Completion, Config, ExceptionKind, SystemException,
    config::{Limits, ServerStrategy},
    poa::{
        IdUniqueness, Poa, Policies, RequestProcessing, ServantActivator, ServantError,
        ServantLocator, ServantRetention, servant_of,
    },
};
use orbium_testkit::{PATIENCE, each_strategy, eventually, within};

use crate::fixture::{Servant, Served, keeping, seen_by, with_strategy};
use crate::later::{Desk, RefusedError};

fn system(outcome: Result<i32, RefusedError>) -> SystemException {
    match outcome {
        Err(RefusedError::System(exception)) => exception,
        other => panic!("{other:?}"),
    }
}

/// Conformance: Messaging - asynchronous method handling: a dropped token is NO_RESPONSE, COMPLETED_MAYBE
#[test]
fn a_token_that_is_dropped_answers_no_response() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let caller = served.call(1);
        drop(served.token());
        let exception = system(caller.join().unwrap());
        assert_eq!(exception.kind, ExceptionKind::NoResponse);
        assert_eq!(
            (exception.minor, exception.completed),
            (0, Completion::Maybe)
        );
        assert_eq!(served.orb.open_requests().dropped(), 1);
        assert_eq!(served.orb.open_requests().count(), 0);
        served.end();
    });
}

/// An adapter of its own with the manager of the root's.
fn child(served: &Served) -> Poa {
    let root = served.orb.root_poa();
    let manager = Some(root.manager());
    root.create_poa("child", manager, Policies::default())
        .unwrap()
}

fn limited(strategy: ServerStrategy, open_requests: usize, open_time: Duration) -> Config {
    Config {
        limits: Limits {
            open_requests,
            open_time,
            ..Limits::default()
        },
        ..with_strategy(strategy)
    }
}

const LONG: Duration = Duration::from_secs(600);
const SHORT: Duration = Duration::from_millis(20);

/// Conformance: Messaging - asynchronous method handling: open requests of a POA are bounded, TRANSIENT 1 beyond
#[test]
fn open_requests_of_an_adapter_are_bounded() {
    each_strategy(|strategy| {
        let served = Served::with(limited(strategy, 2, LONG), None);
        let child = child(&served);
        let (other, other_tokens) = keeping(&child);
        let other = seen_by(&served.client, &served.orb, &other);
        let callers = [served.call(1), served.call(2)];
        let tokens = [served.token(), served.token()];
        let exception = system(served.desk.take(3));
        assert_eq!(exception.kind, ExceptionKind::Transient);
        assert_eq!(
            (exception.minor & 0xfff, exception.completed),
            (1, Completion::No)
        );
        // Another adapter has its own bound, and what is answered at once is not bounded.
        let elsewhere = thread::spawn(move || other.take(4));
        other_tokens.recv().unwrap().1.ok(4).unwrap();
        assert_eq!(elsewhere.join().unwrap(), Ok(4));
        assert_eq!(served.desk.now(5), Ok(5));
        for (number, token) in tokens {
            token.ok(number).unwrap();
        }
        for caller in callers {
            assert!(matches!(caller.join().unwrap(), Ok(1 | 2)));
        }
        eventually("there is room again", || {
            served.orb.open_requests().count() == 0
        });
        let caller = served.call(6);
        served.token().1.ok(6).unwrap();
        assert_eq!(caller.join().unwrap(), Ok(6));
        served.end();
    });
}

/// Counts the requests that end with an exception.
struct Counting(Arc<AtomicUsize>);

impl ServerInterceptor for Counting {
    fn send_exception(&self, _: &mut SendException<'_, '_>) -> Result<(), Interrupt> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

/// A request that was refused counted as one that is answered later: nothing was sent, and the client waited for
/// ever.
#[test]
fn a_request_beyond_the_bound_that_interceptors_see_is_refused() {
    each_strategy(|strategy| {
        let (refusals, mut interceptors) = (Arc::<AtomicUsize>::default(), Interceptors::new());
        let counting = Counting(Arc::clone(&refusals));
        interceptors.add_server(counting).unwrap();
        let config = Config {
            interceptors,
            ..limited(strategy, 1, LONG)
        };
        let served = Served::with(config, None);
        let caller = served.call(1);
        let (number, token) = served.token();
        for desk in [&served.desk, &served.here] {
            let desk = desk.clone();
            let refused = system(within("the refusal", move || desk.take(2)));
            let expected = SystemException::omg(ExceptionKind::Transient, 1, Completion::No);
            assert_eq!(refused, expected);
        }
        assert_eq!(refusals.load(Ordering::SeqCst), 2);
        token.ok(number).unwrap();
        assert_eq!(caller.join().unwrap(), Ok(1));
        served.end();
    });
}

/// Has one servant serve all requests.
struct Always(Arc<dyn orbium::Servant>);

impl ServantLocator for Always {
    type Cookie = ();

    fn preinvoke(
        &self,
        _: &[u8],
        _: &Poa,
        _: &[u8],
    ) -> Result<(Arc<dyn orbium::Servant>, ()), ServantError> {
        Ok((Arc::clone(&self.0), ()))
    }
}

/// As such a request counted as one that is answered later, its exception was discarded, and INTERNAL sent.
#[test]
fn a_request_beyond_the_bound_that_a_servant_locator_serves_is_refused() {
    let served = Served::with(limited(ServerStrategy::default(), 1, LONG), None);
    let root = served.orb.root_poa();
    let policies = Policies {
        id_uniqueness: IdUniqueness::Multiple,
        servant_retention: ServantRetention::NonRetain,
        request_processing: RequestProcessing::ServantManager,
        ..Policies::default()
    };
    let located = root.create_poa("located", Some(root.manager()), policies);
    let located = located.unwrap();
    let (sender, tokens) = channel();
    let keep = move |number, token| sender.send((number, token)).unwrap();
    let servant = servant_of::<Desk, _>(Arc::new(Servant(Box::new(keep))));
    located.set_servant_locator(Always(servant)).unwrap();
    let desk = located.create_reference().unwrap();
    let desk = seen_by(&served.client, &served.orb, &desk);
    let first = desk.clone();
    let caller = thread::spawn(move || first.take(1));
    let (number, token) = tokens.recv().unwrap();
    let refused = system(within("the refusal", move || desk.take(2)));
    let expected = SystemException::omg(ExceptionKind::Transient, 1, Completion::No);
    assert_eq!(refused, expected);
    token.ok(number).unwrap();
    assert_eq!(caller.join().unwrap(), Ok(1));
    served.end();
}

/// Conformance: Messaging - asynchronous method handling: destroy waits for open requests
#[test]
fn destroying_an_adapter_waits_for_its_open_requests() {
    each_strategy(|strategy| {
        let served = Served::with(limited(strategy, 9, LONG), None);
        let child = child(&served);
        let (desk, tokens) = keeping(&child);
        let desk = seen_by(&served.client, &served.orb, &desk);
        let caller = thread::spawn(move || desk.take(1));
        let (number, token) = tokens.recv().unwrap();
        let (done, is_done) = std::sync::mpsc::channel();
        let destroying = thread::spawn(move || {
            child.destroy(true).unwrap();
            done.send(()).unwrap();
        });
        assert!(is_done.recv_timeout(SHORT).is_err(), "a request is open");
        token.ok(number).unwrap();
        assert_eq!(caller.join().unwrap(), Ok(1));
        within("the destruction", move || destroying.join().unwrap());
        served.end();
    });
}

/// Passes on that a servant is etherealized.
struct Watching(Sender<()>);

impl ServantActivator for Watching {
    fn incarnate(&self, _: &[u8], _: &Poa) -> Result<Arc<dyn orbium::Servant>, ServantError> {
        Err(SystemException::new(ExceptionKind::ObjectNotExist, 0, Completion::No).into())
    }

    fn etherealize(&self, _: &[u8], _: &Poa, _: Arc<dyn orbium::Servant>, _: bool, _: bool) {
        self.0.send(()).unwrap();
    }
}

/// The adapter was gone at once, and its servant etherealized, while a client waited for its reply.
///
/// Conformance: Messaging - asynchronous method handling: destroy waits for open requests
#[test]
fn an_adapter_destroyed_without_waiting_ends_after_its_open_requests() {
    each_strategy(|strategy| {
        let served = Served::with(limited(strategy, 9, LONG), None);
        let root = served.orb.root_poa();
        let policies = Policies {
            request_processing: RequestProcessing::ServantManager,
            ..Policies::default()
        };
        let child = root.create_poa("child", Some(root.manager()), policies);
        let child = child.unwrap();
        let (sender, etherealized) = channel();
        child.set_servant_activator(Watching(sender)).unwrap();
        let (desk, tokens) = keeping(&child);
        let desk = seen_by(&served.client, &served.orb, &desk);
        let caller = thread::spawn(move || desk.take(1));
        let (number, token) = tokens.recv().unwrap();
        child.destroy(false).unwrap();
        assert!(etherealized.try_recv().is_err());
        token.ok(number).unwrap();
        assert_eq!(caller.join().unwrap(), Ok(1));
        etherealized.recv_timeout(PATIENCE).unwrap();
        within("the name", move || {
            root.create_poa("child", None, Policies::default()).unwrap();
        });
        served.end();
    });
}

/// Conformance: Messaging - asynchronous method handling: open requests are answered TRANSIENT 4 when their POA ends
#[test]
fn requests_open_for_too_long_when_their_adapter_ends_are_transient() {
    each_strategy(|strategy| {
        let served = Served::with(limited(strategy, 9, SHORT), None);
        let child = child(&served);
        let (desk, tokens) = keeping(&child);
        let desk = seen_by(&served.client, &served.orb, &desk);
        let caller = thread::spawn(move || desk.take(1));
        let others = served.call(2);
        let ((_, token), (_, stays)) = (tokens.recv().unwrap(), served.token());
        within("the destruction", move || child.destroy(true).unwrap());
        let exception = system(caller.join().unwrap());
        assert_eq!(exception.kind, ExceptionKind::Transient);
        assert_eq!(
            (exception.minor & 0xfff, exception.completed),
            (4, Completion::Maybe)
        );
        assert!(token.is_cancelled() && !stays.is_cancelled());
        token.ok(1).unwrap();
        stays.ok(2).unwrap();
        assert_eq!(others.join().unwrap(), Ok(2));
        served.end();
    });
}

/// Conformance: Messaging - asynchronous method handling: shutdown waits for open requests up to a limit
#[test]
fn shutdown_waits_for_open_requests_up_to_its_limit() {
    each_strategy(|strategy| {
        for (limit, answered) in [(LONG, true), (SHORT, false)] {
            let served = Served::with(limited(strategy, 9, limit), None);
            let caller = served.call(1);
            let (_, token) = served.token();
            let orb = served.orb.clone();
            let ending = thread::spawn(move || orb.shutdown(true).unwrap());
            if answered {
                eventually("shutdown has begun", || !served.orb.is_running());
                token.ok(1).unwrap();
                assert_eq!(caller.join().unwrap(), Ok(1));
            } else {
                let exception = system(caller.join().unwrap());
                assert_eq!(exception.kind, ExceptionKind::Transient);
                assert!(token.is_cancelled());
            }
            within("the shutdown", move || ending.join().unwrap());
            served.end();
        }
    });
}
