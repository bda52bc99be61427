// SPDX-License-Identifier: MIT OR Apache-2.0
//! Many asynchronous calls at once over one connection.

use std::collections::VecDeque;

use orbium::{Interface, ObjectRef, SystemException, asynchronous::Asynchronous};

use crate::cubit::Cube;

/// Invokes `Cubit::Cube::noop` so many times asynchronously, with up to `outstanding`
/// invocations at once: each further one is submitted when the oldest has its reply.
///
/// # Errors
/// The first exception raised.
pub fn pipelined(
    object: &ObjectRef,
    calls: u64,
    outstanding: usize,
) -> Result<(), SystemException> {
    let cube = Cube::from_object(object.clone());
    let mut pending: VecDeque<Asynchronous<(), _>> = VecDeque::with_capacity(outstanding);
    for _ in 0..calls {
        if pending.len() == outstanding
            && let Some(oldest) = pending.pop_front()
        {
            oldest.wait()?;
        }
        pending.push_back(cube.noop_async());
    }
    pending.into_iter().try_for_each(Asynchronous::wait)
}
