// SPDX-License-Identifier: MIT OR Apache-2.0
//! Asynchronous invocations at the right priority.

use crate::common;
mod carried;
mod connections;
mod handlers;
mod many;
mod native;
mod negotiated;

use std::sync::mpsc::channel;

use orbium_cdr::{Decode, Encode};
use orbium_core::asynchronous::Asynchronous;
use orbium_core::{Interface, Operation, SystemException};
use orbium_rt::RtOrb;
use orbium_testkit::probe::Target;
use orbium_testkit::{block_on, within};

static ACT: Operation = Operation::new("act");

/// Has the servant `act`.
fn act(target: &Target, what: i32) -> Asynchronous<i32> {
    target
        .as_object()
        .call_async(&ACT, what, Encode::encode, i32::decode)
}

/// Begins a call on a thread of its own, which has a priority and ends then.
fn act_at(rt: &RtOrb, target: &Target, priority: i16) -> Asynchronous<i32> {
    let (rt, target) = (rt.clone(), target.clone());
    common::on_a_thread(move || {
        rt.current().set_the_priority(priority).unwrap();
        act(&target, 0)
    })
}

/// What comes of it.
#[track_caller]
fn result(call: Asynchronous<i32>) -> Result<i32, SystemException> {
    within("the call", move || call.wait())
}

/// What a handler makes of it.
#[track_caller]
fn handled<R: Send + 'static>(
    call: Asynchronous<i32>,
    handler: impl FnOnce(Result<i32, SystemException>) -> R + Send + 'static,
) -> R {
    let (report, reported) = channel();
    call.on_reply(move |result| report.send(handler(result)).unwrap());
    within("the handler", move || reported.recv().unwrap())
}
