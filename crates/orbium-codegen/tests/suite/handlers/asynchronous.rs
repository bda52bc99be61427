// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reply handlers that are asynchronous servants.

use std::sync::mpsc::{Sender, channel};
use std::thread::{self, ThreadId};

use orbium::Call;
use orbium::asynchronous::{AsyncCall, AsyncServant, Task};
use orbium::messaging::{ExceptionHolder, ReplyHandlerAsyncServant};

use super::golden::handled::{
    AmiDialHandler, AmiDialHandlerAsyncServant, Dial, DialServant, Empty, EmptyError,
};
use super::{Answer, PATIENCE};
use crate::async_servants::run;
use crate::orbs::Orbs;

/// Turns forwards only.
struct Forwards;

impl DialServant for Forwards {
    fn turn(&self, _: &Call<'_>, by: i32) -> Result<i32, EmptyError> {
        if by > 0 { Ok(by) } else { Err(Empty {}.into()) }
    }
}

/// Reports each outcome and the thread that takes it.
struct Turns(Sender<(Result<i32, EmptyError>, ThreadId)>);

impl ReplyHandlerAsyncServant for Turns {}

impl AmiDialHandlerAsyncServant for Turns {
    async fn turn(&self, _: AsyncCall, by: i32) -> Answer<()> {
        let _ = self.0.send((Ok(by), thread::current().id()));
        Ok(())
    }

    async fn turn_excep(&self, _: AsyncCall, holder: Option<ExceptionHolder>) -> Answer<()> {
        let raised = holder.unwrap().raise_exception();
        let _ = self.0.send((Err(raised), thread::current().id()));
        Ok(())
    }
}

/// The generated trait had a base that no crate defined, and did not compile.
///
/// Conformance: Messaging - reply handlers - as asynchronous servants
#[test]
fn futures_of_an_executor_take_replies_and_exceptions() {
    let orbs = Orbs::new();
    let poa = orbs.client.root_poa();
    poa.manager().activate().unwrap();
    let [_, dial]: [Dial; 2] = orbs.both(Forwards);
    let (tasks, todo) = channel::<Task>();
    let executor = thread::spawn(move || run(todo));
    let (sender, taken) = channel();
    let servant = AsyncServant::new(Turns(sender), move |task| tasks.send(task).unwrap());
    let handler: AmiDialHandler = poa.activate(servant).unwrap();
    let on = executor.thread().id();
    dial.sendc_turn(Some(&handler), 7);
    assert_eq!(taken.recv_timeout(PATIENCE), Ok((Ok(7), on)));
    dial.sendc_turn(Some(&handler), -1);
    let raised = Err(EmptyError::Empty(Empty {}));
    assert_eq!(taken.recv_timeout(PATIENCE), Ok((raised, on)));
}
