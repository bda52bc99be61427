// SPDX-License-Identifier: MIT OR Apache-2.0
//! Servants that answer after they have returned, through generated code: called over TCP and
//! by a caller of the same ORB.

use std::sync::Mutex;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use orbium::{Call, DeferredReply, ExceptionKind, SystemException};
use orbium_codegen::Options;

use crate::generated::generated;
use crate::pair::Pair;

mod golden {
    include!("../golden/deferred.rs");
}

use golden::deferred::{
    BoxServant, Entry, Lost, LostError, Store, StoreServant, StoreSplitResults,
    StoreSwapDeferredResults,
};

/// What options are tried on.
const IDL: &str = "module Bank {
      interface Account {
        string owner(); @deferred(FALSE) string hint(); void audit();
      };
    };";

#[test]
fn options_name_operations_that_are_answered_later() {
    let bank = || Options::new("bank.idl");
    let tokens = |code: &str| code.matches("deferred ").count();
    assert_eq!(tokens(&generated(IDL, &bank()).0), 0);
    for (pattern, expected) in [("Bank::Account::audit", 1), ("Bank::*", 2)] {
        let (code, warnings) = generated(IDL, &bank().deferred_replies(pattern));
        assert_eq!((tokens(&code), warnings), (expected, vec![]), "{pattern}");
    }
    let (_, warnings) = generated(IDL, &bank().deferred_replies("Bank::Accounts::*"));
    assert!(warnings[0].contains("names no operation"), "{warnings:?}");
}

type Job = Box<dyn FnOnce() + Send>;

/// Has one other thread give all answers.
struct Servant {
    jobs: Sender<Job>,
    first: Mutex<Entry>,
    posted: Sender<i32>,
}

impl Servant {
    fn later(&self, job: impl FnOnce() + Send + 'static) {
        self.jobs.send(Box::new(job)).unwrap();
    }
}

impl BoxServant for Servant {
    fn label(&self, _: &Call<'_>, reply: DeferredReply<String>) {
        self.later(|| reply.ok("label".to_owned()).unwrap());
    }

    fn read(&self, _: &Call<'_>, at: u32, reply: DeferredReply<Vec<u8>, LostError>) {
        assert!(reply.response_expected());
        self.later(move || match at {
            0..4 => reply.ok(vec![7; at as usize]).unwrap(),
            4 => {
                let why = format!("{at}");
                reply.raise(Lost { why }).unwrap();
            }
            _ => {
                let refused = SystemException::from(ExceptionKind::NoPermission);
                reply.raise(refused).unwrap();
            }
        });
    }
}

impl StoreServant for Servant {
    fn first(&self, _: &Call<'_>, reply: DeferredReply<Entry>) {
        // Results can be lent.
        reply.ok(&*self.first.lock().unwrap()).unwrap();
    }

    fn set_first(&self, _: &Call<'_>, value: &Entry, reply: DeferredReply<()>) {
        value.clone_into(&mut self.first.lock().unwrap());
        self.later(|| reply.ok(()).unwrap());
    }

    fn short_text(&self, _: &Call<'_>, given: &str, reply: DeferredReply<String>) {
        let doubled = given.repeat(2);
        self.later(move || {
            let fits = doubled.len() <= 8;
            assert_eq!(reply.ok(doubled).is_ok(), fits);
        });
    }

    fn wide(&self, _: &Call<'_>, given: &str, reply: DeferredReply<String, LostError>) {
        let given = given.to_owned();
        self.later(move || reply.complete(Ok(given)).unwrap());
    }

    fn split(&self, _: &Call<'_>, whole: &str, reply: DeferredReply<StoreSplitResults>) {
        let result = whole[..3].to_owned();
        self.later(move || reply.ok(StoreSplitResults { result, at: 3 }).unwrap());
    }

    fn swap(
        &self,
        _: &Call<'_>,
        a: &str,
        b: &Entry,
        reply: DeferredReply<StoreSwapDeferredResults>,
    ) {
        let b = Entry {
            key: a.to_owned(),
            value: b.value + 1,
        };
        let a = "swapped".to_owned();
        self.later(move || reply.ok(StoreSwapDeferredResults { a, b }).unwrap());
    }

    fn grow(&self, _: &Call<'_>, data: &[u8], reply: DeferredReply<Vec<u8>>) {
        let data = [data, data].concat();
        self.later(move || reply.ok(&data).unwrap());
    }

    fn flush(&self, _: &Call<'_>, reply: DeferredReply<()>) {
        self.later(|| reply.ok(()).unwrap());
    }

    fn post(&self, _: &Call<'_>, value: i32, reply: DeferredReply<()>) {
        assert!(!reply.response_expected() && !reply.is_cancelled());
        let posted = self.posted.clone();
        self.later(move || {
            // Goes nowhere, as does the drop of a token.
            match value {
                0 => drop(reply),
                _ => reply.ok(()).unwrap(),
            }
            posted.send(value).unwrap();
        });
    }

    fn borrowed(
        &self,
        _: &Call<'_>,
        reply: orbium::Reply<'_, str>,
    ) -> orbium::Result<orbium::Sent> {
        reply.send("borrowed")
    }

    fn plain(&self, _: &Call<'_>) -> orbium::Result<i32> {
        Ok(5)
    }
}

fn pair() -> Pair<Store> {
    let (jobs, todo) = channel::<Job>();
    let answering = thread::spawn(move || todo.into_iter().for_each(|job| job()));
    let (sender, posted) = channel();
    let servant = Servant {
        jobs,
        first: Mutex::default(),
        posted: sender,
    };
    Pair::new(servant, posted, answering)
}

/// Conformance: Messaging - asynchronous method handling: results from another thread
#[test]
fn answers_of_another_thread_reach_callers_of_the_same_orb_and_remote_ones() {
    let pair = pair();
    for store in &pair.stores {
        assert_eq!(store.label().unwrap(), "label");
        assert_eq!(store.read(3).unwrap(), [7; 3]);
        assert_eq!(store.short_text("abcd").unwrap(), "abcdabcd");
        assert_eq!(store.wide("ä€").unwrap(), "ä€");
        let result = "key".to_owned();
        let split = StoreSplitResults { result, at: 3 };
        assert_eq!(store.split("key=value"), Ok(split));
        store.flush().unwrap();
        let entry = Entry {
            key: "k".to_owned(),
            value: 4,
        };
        store.set_first(&entry).unwrap();
        assert_eq!(store.first().unwrap(), entry);
        assert_eq!(store.borrowed().unwrap(), "borrowed");
        assert_eq!(store.plain().unwrap(), 5);
    }
}

#[test]
fn inout_parameters_come_back_with_the_results() {
    let pair = pair();
    for store in &pair.stores {
        let (mut a, mut b) = ("a".to_owned(), Entry::default());
        store.swap(&mut a, &mut b).unwrap();
        assert_eq!((a.as_str(), b.key.as_str(), b.value), ("swapped", "a", 1));
        let mut data = vec![1, 2];
        store.grow(&mut data).unwrap();
        assert_eq!(data, [1, 2, 1, 2]);
    }
}

/// Conformance: Messaging - asynchronous method handling: exceptions from another thread
#[test]
fn exceptions_are_raised_through_the_token() {
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
        // Nothing of that stays behind.
        assert_eq!(store.label().unwrap(), "label");
    }
}

/// Conformance: Messaging - asynchronous method handling: a oneway has nothing to answer
#[test]
fn tokens_of_oneways_send_nothing() {
    let pair = pair();
    for store in &pair.stores {
        for value in [0, 1] {
            store.post(value).unwrap();
            assert_eq!(pair.posted.recv(), Ok(value));
        }
        assert_eq!(store.plain(), Ok(5));
    }
}
