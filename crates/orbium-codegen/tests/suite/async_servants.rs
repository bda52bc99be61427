// SPDX-License-Identifier: MIT OR Apache-2.0
//! `async fn` servants through generated code: called over TCP and by a
//! caller of the same ORB.

use std::future::poll_fn;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use orbium::{
    Any, ExceptionKind, Interface, ObjectRef, Orb,
    asynchronous::{AsyncCall, AsyncServant, Task},
};
use orbium_codegen::Options;

use crate::generated::generated;
use crate::pair::Pair;

mod golden {
    include!("../golden/async_servants.rs");
}

use golden::async_servants::{
    BoxAsyncServant, Colour, EmptyAsyncServant, Entry, Grid, Lost, LostError, Store,
    StoreAsyncServant, StoreSplitResults, StoreSwapDeferredResults,
};

const IDL: &str = "module Bank {
      interface Named { readonly attribute string name; };
      interface Account : Named { void audit(); };
    };";

#[test]
fn options_name_interfaces_with_asynchronous_servants() {
    let bank = || Options::new("bank.idl");
    let traits = |code: &str| code.matches("pub trait ").count() - 2;
    assert_eq!(traits(&generated(IDL, &bank()).0), 0);
    for (pattern, expected) in [("Bank::Named", 1), ("::Bank::*", 2)] {
        let (code, warnings) = generated(IDL, &bank().async_servants(pattern));
        assert_eq!((traits(&code), warnings), (expected, vec![]), "{pattern}");
    }
    let (code, warnings) = generated(IDL, &bank().async_servants("Bank::Account"));
    assert_eq!(traits(&code), 0);
    assert!(
        warnings[0].contains("its base `::Bank::Named`"),
        "{warnings:?}"
    );
    let (_, warnings) = generated(IDL, &bank().async_servants("Bank::Accounts"));
    assert!(warnings[0].contains("names no interface"), "{warnings:?}");
}

#[test]
fn default_bodies_are_asynchronous_too() {
    let options = Options::new("bank.idl").default_bodies(true);
    let (code, _) = generated(IDL, &options.async_servants("Bank::*"));
    let bodies = code.matches("async { Err(orb::not_implemented().into()) }");
    assert_eq!(bodies.count(), 2);
}

/// Suspends once, and is woken at once.
async fn yield_once() {
    let mut yielded = false;
    poll_fn(|context| {
        context.waker().wake_by_ref();
        if std::mem::replace(&mut yielded, true) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
}

struct Servant {
    first: Mutex<Entry>,
    posted: Sender<i32>,
}

impl BoxAsyncServant for Servant {
    async fn label(&self, call: AsyncCall) -> orbium::Result<String> {
        yield_once().await;
        assert!(call.deadline().is_none());
        Ok(format!("{} octets", call.object_id().len()))
    }

    async fn read(&self, _: AsyncCall, at: u32) -> Result<Vec<u8>, LostError> {
        yield_once().await;
        match at {
            0..4 => Ok(vec![7; at as usize]),
            4 => Err(Lost {
                why: format!("{at}"),
            })?,
            _ => Err(orbium::SystemException::from(ExceptionKind::NoPermission))?,
        }
    }
}

impl EmptyAsyncServant for Servant {}

impl StoreAsyncServant for Servant {
    async fn first(&self, _: AsyncCall) -> orbium::Result<Entry> {
        Ok(self.first.lock().unwrap().clone())
    }

    async fn set_first(&self, _: AsyncCall, value: Entry) -> orbium::Result<()> {
        yield_once().await;
        *self.first.lock().unwrap() = value;
        Ok(())
    }

    async fn short_text(&self, _: AsyncCall, given: String) -> orbium::Result<String> {
        Ok(given.repeat(2))
    }

    async fn wide(&self, _: AsyncCall, given: String, tint: Colour) -> Result<String, LostError> {
        assert_eq!(tint, Colour::Green);
        Ok(given)
    }

    async fn split(&self, _: AsyncCall, whole: String) -> orbium::Result<StoreSplitResults> {
        let result = whole[..3].to_owned();
        Ok(StoreSplitResults { result, at: 3 })
    }

    async fn swap(
        &self,
        _: AsyncCall,
        a: String,
        b: Entry,
    ) -> orbium::Result<StoreSwapDeferredResults> {
        yield_once().await;
        let (key, value) = (a, b.value + 1);
        let a = b.key;
        Ok(StoreSwapDeferredResults {
            a,
            b: Entry { key, value },
        })
    }

    async fn sorted(
        &self,
        _: AsyncCall,
        mut servant: Vec<Entry>,
        reply: Grid,
    ) -> orbium::Result<Vec<Entry>> {
        assert_eq!(reply, [[1, 2], [3, 4]]);
        servant.sort_by_key(|entry| entry.value);
        Ok(servant)
    }

    async fn other(
        &self,
        _: AsyncCall,
        call: Option<Store>,
        thing: Option<ObjectRef>,
    ) -> orbium::Result<Option<Store>> {
        assert_eq!(call.is_some(), thing.is_some());
        Ok(call)
    }

    async fn same(&self, _: AsyncCall, given: Any) -> orbium::Result<Any> {
        Ok(given)
    }

    async fn post(&self, _: AsyncCall, value: i32) -> orbium::Result<()> {
        yield_once().await;
        self.posted.send(value).unwrap();
        Ok(())
    }

    async fn borrowed(&self, _: AsyncCall, given: Entry) -> orbium::Result<String> {
        Ok(given.key)
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs tasks to their ends, one after the other.
pub(crate) fn run(tasks: Receiver<Task>) {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    for mut task in tasks {
        while task
            .as_mut()
            .poll(&mut Context::from_waker(&waker))
            .is_pending()
        {
            thread::park();
        }
    }
}

fn pair() -> Pair<Store> {
    let (tasks, todo) = channel::<Task>();
    let executor = thread::spawn(move || run(todo));
    let (posted_by, posted) = channel();
    let servant = Servant {
        first: Mutex::default(),
        posted: posted_by,
    };
    let servant = AsyncServant::new(servant, move |task| tasks.send(task).unwrap());
    Pair::new(servant, posted, executor)
}

fn entry(key: &str, value: i32) -> Entry {
    let key = key.to_owned();
    Entry { key, value }
}

/// Conformance: Messaging - asynchronous method handling: `async fn` servants - generated
#[test]
fn async_functions_serve_callers_of_the_same_orb_and_remote_ones() {
    let pair = pair();
    for store in &pair.stores {
        assert_eq!(store.label().unwrap(), "8 octets");
        assert_eq!(store.read(3).unwrap(), [7; 3]);
        store.set_first(&entry("k", 4)).unwrap();
        assert_eq!(store.first().unwrap(), entry("k", 4));
        assert_eq!(store.short_text("abcd").unwrap(), "abcdabcd");
        assert_eq!(store.wide("ä€", Colour::Green).unwrap(), "ä€");
        let result = "key".to_owned();
        let split = StoreSplitResults { result, at: 3 };
        assert_eq!(store.split("key=value"), Ok(split));
        let sorted = store.sorted(&[entry("b", 2), entry("a", 1)], &[[1, 2], [3, 4]]);
        assert_eq!(sorted.unwrap(), [entry("a", 1), entry("b", 2)]);
        let other = store.other(Some(store), Some(store.as_object())).unwrap();
        assert_eq!(other.unwrap().label().unwrap(), "8 octets");
        assert!(store.other(None, None).unwrap().is_none());
        let any = Any::new(&7i32).unwrap();
        assert_eq!(store.same(&any).unwrap(), any);
        assert_eq!(store.borrowed(&entry("lent", 0)).unwrap(), "lent");
    }
}

#[test]
fn inout_parameters_and_oneways_of_async_functions() {
    let pair = pair();
    for (value, store) in (1..).zip(&pair.stores) {
        let (mut a, mut b) = ("a".to_owned(), entry("b", value));
        store.swap(&mut a, &mut b).unwrap();
        assert_eq!((a.as_str(), b), ("b", entry("a", value + 1)));
        store.post(value).unwrap();
        assert_eq!(pair.posted.recv(), Ok(value));
    }
}

/// Conformance: Messaging - asynchronous method handling: `async fn` servants - its exceptions
#[test]
fn async_functions_raise_exceptions() {
    let pair = pair();
    for store in &pair.stores {
        let why = "4".to_owned();
        assert_eq!(store.read(4), Err(LostError::from(Lost { why })));
        let Err(LostError::System(exception)) = store.read(5) else {
            panic!("a system exception");
        };
        assert_eq!(exception.kind, ExceptionKind::NoPermission);
        // The result exceeds its bound of eight characters.
        let error = store.short_text("12345").unwrap_err();
        assert_eq!(error.kind, ExceptionKind::Marshal);
    }
}

/// A servant that nothing runs: its executor drops each task.
///
/// Conformance: Messaging - asynchronous method handling: `async fn` servants - a task that the executor drops is NO_RESPONSE
#[test]
fn a_task_that_the_executor_drops_answers_no_response() {
    let orb = Orb::builder().build().unwrap();
    orb.root_poa().manager().activate().unwrap();
    let (posted, _posted) = channel();
    let servant = Servant {
        first: Mutex::default(),
        posted,
    };
    let servant = AsyncServant::new(servant, drop::<Task>);
    let store: Store = orb.root_poa().activate(servant).unwrap();
    let exception = store.label().unwrap_err();
    assert_eq!(exception.kind, ExceptionKind::NoResponse);
    assert_eq!(orb.open_requests().count(), 0);
    orb.shutdown(true).unwrap();
}
