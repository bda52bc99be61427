// SPDX-License-Identifier: MIT OR Apache-2.0
//! A server with a well-behaved client that calls all the time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use orbium::{Config, Interface, Limits, ServerStrategy};

use super::wire::Wire;
use crate::transport_suite::Subject;
use crate::{PATIENCE, Served, eventually, within};

pub(super) struct Live<'s> {
    subject: &'s Subject,
    pub(super) served: Served,
    over: Arc<AtomicBool>,
    calls: Arc<AtomicU64>,
    well_behaved: Option<thread::JoinHandle<()>>,
}

impl Drop for Live<'_> {
    /// After a failure, too: the tests that follow want the processors.
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
    }
}

impl<'s> Live<'s> {
    pub(super) fn new(subject: &'s Subject, strategy: ServerStrategy, limits: Limits) -> Self {
        let served = Served::with(Config {
            limits,
            ..subject.server_config(subject.endpoint(), strategy)
        });
        let over = Arc::new(AtomicBool::new(false));
        let calls = Arc::new(AtomicU64::new(0));
        let client = subject.client_orb();
        let target = served.seen_by(&client);
        let (until, count) = (Arc::clone(&over), Arc::clone(&calls));
        let well_behaved = thread::spawn(move || {
            let target = target.with_timeout(PATIENCE);
            let mut number = 0;
            while !until.load(Ordering::SeqCst) {
                number += 1;
                assert_eq!(target.echo_long(number), Ok(number));
                let octets = vec![number as u8; 1000];
                assert_eq!(target.echo_octets(&octets).unwrap(), octets);
                count.fetch_add(1, Ordering::SeqCst);
            }
            client.shutdown(true).unwrap();
        });
        Self {
            subject,
            served,
            over,
            calls,
            well_behaved: Some(well_behaved),
        }
    }

    #[track_caller]
    pub(super) fn connect(&self) -> Wire {
        Wire::new(self.subject, &self.served.orb)
    }

    /// The well-behaved client is served, now and in the end.
    #[track_caller]
    pub(super) fn end(mut self) {
        let before = self.calls.load(Ordering::SeqCst);
        let client = self.well_behaved.take().expect("not ended before");
        eventually("the well-behaved client is served", || {
            self.calls.load(Ordering::SeqCst) > before + 2 || client.is_finished()
        });
        self.over.store(true, Ordering::SeqCst);
        within("the well-behaved client", move || client.join().unwrap());
        self.served.clone().end();
    }
}
