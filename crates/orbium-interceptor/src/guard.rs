// SPDX-License-Identifier: MIT OR Apache-2.0
//! What surrounds each point: slots of its own, and no panic that leaves it.

use std::panic::{AssertUnwindSafe, catch_unwind};

use orbium_giop::{Completion, SystemException};
use tracing::error;

use crate::errors;
use crate::interrupt::Interrupt;
use crate::slots::{PiCurrent, SlotTable};

/// Runs one point of an interceptor. Calls made within begin with empty slots, by which an
/// interceptor can recognise its own; a panic becomes UNKNOWN.
pub(crate) fn point<E: From<SystemException>>(
    current: &PiCurrent,
    name: &str,
    completed: Completion,
    run: impl FnOnce() -> Result<(), E>,
) -> Result<(), E> {
    let before = current.exchange(SlotTable::default());
    let outcome = unpanicked(name, completed, run);
    current.exchange(before);
    outcome
}

/// Runs a point with the slots that the thread has.
pub(crate) fn unpanicked<E: From<SystemException>>(
    name: &str,
    completed: Completion,
    run: impl FnOnce() -> Result<(), E>,
) -> Result<(), E> {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(outcome) => outcome,
        Err(_) => Err(panicked(name, completed).into()),
    }
}

/// What a point raises that has panicked. Where, the panic hook has said.
#[cold]
fn panicked(name: &str, completed: Completion) -> SystemException {
    error!(target: "orbium::call", interceptor = name, "interceptor panicked");
    errors::panicked(completed)
}

/// What an ending point made of the outcome.
pub(crate) fn raise_only(outcome: Result<(), SystemException>) -> Result<(), Interrupt> {
    outcome.map_err(Interrupt::Raise)
}
