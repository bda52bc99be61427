// SPDX-License-Identifier: MIT OR Apache-2.0
//! Operations with names determined at run time.
//!
//! Calls take an [`Operation`] of static lifetime, like those of stubs. The ones created here are
//! never freed, so their number is bounded: the clients of a gateway, which choose the names, must
//! not exhaust its memory.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use orbium_core::lock::Mutex;
use orbium_core::{Completion, ExceptionKind, Operation, SystemException};

/// Maximum number of operations that one process calls dynamically.
const MAX_OPERATIONS: usize = 16_384;

/// Maximum octets of the name of an operation.
const MAX_NAME_LENGTH: usize = 1024;

/// Names with static lifetime.
static NAMES: LazyLock<Mutex<HashSet<&'static str>>> = LazyLock::new(Mutex::default);

/// The same text with static lifetime.
///
/// # Errors
/// IMP_LIMIT: the text is too long, or there are too many different ones.
pub(crate) fn interned(text: &str) -> Result<&'static str, SystemException> {
    let mut names = NAMES.lock();
    if let Some(name) = names.get(text) {
        return Ok(name);
    }
    if names.len() >= MAX_OPERATIONS || text.len() > MAX_NAME_LENGTH {
        return Err(too_many());
    }
    let name: &'static str = String::leak(text.to_owned());
    names.insert(name);
    Ok(name)
}

/// The same text with static lifetime, if it was interned before.
pub(crate) fn known(text: &str) -> Option<&'static str> {
    let names = NAMES.lock();
    names.get(text).copied()
}

fn too_many() -> SystemException {
    SystemException::new(ExceptionKind::ImpLimit, 0, Completion::No)
}

static KNOWN: LazyLock<Mutex<HashMap<(&'static str, bool), &'static Operation>>> =
    LazyLock::new(Mutex::default);

/// The operation with that name on the wire.
///
/// # Errors
/// IMP_LIMIT: the name is too long, or the process has called too many different ones.
pub(crate) fn operation(name: &str, oneway: bool) -> Result<&'static Operation, SystemException> {
    let mut known = KNOWN.lock();
    if let Some(operation) = known.get(&(name, oneway)) {
        return Ok(operation);
    }
    if known.len() >= MAX_OPERATIONS {
        return Err(too_many());
    }
    let name = interned(name)?;
    let operation = if oneway {
        Operation::oneway(name)
    } else {
        Operation::new(name)
    };
    let operation: &'static Operation = Box::leak(Box::new(operation));
    known.insert((name, oneway), operation);
    Ok(operation)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_name_is_one_operation() {
        let one = operation("measure", false).unwrap();
        assert!(std::ptr::eq(one, operation("measure", false).unwrap()));
        let oneway = operation("measure", true).unwrap();
        assert!(oneway.is_oneway() && !one.is_oneway());
    }

    #[test]
    fn a_name_that_is_too_long_is_refused() {
        let refused = operation(&"x".repeat(MAX_NAME_LENGTH + 1), false).unwrap_err();
        assert_eq!(refused.kind, ExceptionKind::ImpLimit);
    }
}
