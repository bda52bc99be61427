// SPDX-License-Identifier: MIT OR Apache-2.0
//! `async fn` servants with operations that are tasks by what their requests say.

use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use orbium::giop::riop::Riop;
use orbium::giop::{ReplyStatus, ServiceContext, service_context};
use orbium::{
    Orb,
    asynchronous::{AsyncCall, AsyncServant, ByUrgency, Urgency},
    config::ServerStrategy,
};
use orbium_executor::{Policy, SchedulerContext, TaskQos};
use orbium_testkit::{Peer, RequestLine, eventually, request, within};

use crate::fixture::with_strategy;
use crate::later::{Clerk, ClerkAsyncServant, RefusedError};

struct Quick;

impl ClerkAsyncServant for Quick {
    async fn wait(&self, _: AsyncCall, number: i32) -> Result<i32, RefusedError> {
        Ok(number)
    }
}

fn task_qos(urgency: &Urgency) -> TaskQos {
    let qos = TaskQos::default();
    match urgency.riop.and_then(|it| it.deadline()) {
        Some(deadline) => qos.deadline(deadline),
        None => qos,
    }
}

fn ask(peer: &mut Peer, id: u32, riop: Option<&[u8]>) {
    let context = riop.map(|data| ServiceContext {
        id: service_context::ORBIUM_RIOP,
        data,
    });
    let line = RequestLine {
        contexts: context.as_slice(),
        ..RequestLine::new(id, "wait")
    };
    peer.send(&request(line, |w| w.write_u32(id)));
}

/// Has the one thread of a context wait until the channel is dropped.
fn occupy(context: &SchedulerContext, until: Receiver<()>) {
    let first = TaskQos::default().deadline(Duration::ZERO);
    let held = context.spawn(first, async move {
        let _ = until.recv();
    });
    drop(held.unwrap());
    eventually("the thread is busy", || context.counts().switches == 1);
}

/// Conformance: RT GOPI 3.2.1 - scheduler contexts: asynchronous servants are tasks of one - by the deadlines of their requests
#[test]
fn operations_are_tasks_with_the_deadlines_of_their_requests() {
    let config = with_strategy(ServerStrategy::ThreadPerConnection);
    let orb = Orb::builder().config(config).build().unwrap();
    orb.root_poa().manager().activate().unwrap();
    let context = SchedulerContext::builder("tasks").policy(Policy::Edf);
    let context = context.threads(1).build().unwrap();
    let executor = ByUrgency(context.executor_by(task_qos));
    let clerk: Clerk = orb
        .root_poa()
        .activate(AsyncServant::new(Quick, executor))
        .unwrap();
    orb.bind_key_in_place("Target", &clerk).unwrap();
    let (release, held) = channel();
    occupy(&context, held);
    let mut peer = Peer::connect(orb.addresses().unwrap()[0].port);
    let deadline = |seconds: u64| {
        let said = Riop {
            deadline: seconds * 10_000_000,
            ..Riop::NONE
        };
        said.encode()
    };
    ask(&mut peer, 1, None);
    // Malformed: as none.
    ask(&mut peer, 2, Some(&deadline(1)[..31]));
    ask(&mut peer, 3, Some(&deadline(700)));
    ask(&mut peer, 4, Some(&deadline(600)));
    eventually("all wait", || context.counts().ready == 4);
    drop(release);
    let answered = [0; 4].map(|_| {
        let (id, status, _) = peer.receive().reply();
        assert_eq!(status, ReplyStatus::NoException);
        id
    });
    assert_eq!(answered, [4, 3, 1, 2]);
    within("shutdown", move || orb.shutdown(true).unwrap());
}
