// SPDX-License-Identifier: MIT OR Apache-2.0
//! The bases of interfaces, and the interfaces that values support.

use orbium::Interface;

use crate::corba::InterfaceDef;
use crate::edit::Edit;
use crate::entry::{Body, InterfaceKind, Key};
use crate::fault;
use crate::fault::Result;

/// The bases of an interface of a kind.
///
/// # Errors
/// BAD_PARAM 11 if an abstract interface would inherit from a concrete one.
pub(super) fn bases_of<I: Interface>(
    edit: &Edit<'_>,
    kind: InterfaceKind,
    arguments: &[Option<I>],
) -> Result<Vec<Key>> {
    let keys = edit.keys(arguments, is_interface)?;
    for key in &keys {
        check_base(kind, kind_of(edit, *key)?)?;
    }
    Ok(keys)
}

/// The interfaces that a value supports.
///
/// # Errors
/// BAD_PARAM 12 if more than one is concrete.
pub(super) fn supported(edit: &Edit<'_>, arguments: &[Option<InterfaceDef>]) -> Result<Vec<Key>> {
    let keys = edit.keys(arguments, is_interface)?;
    let mut concrete = 0;
    for key in &keys {
        concrete += usize::from(kind_of(edit, *key)? != InterfaceKind::Abstract);
    }
    if concrete > 1 {
        Err(fault::CONCRETE_INTERFACES)
    } else {
        Ok(keys)
    }
}

fn is_interface(body: &Body) -> bool {
    matches!(body, Body::Interface { .. })
}

fn kind_of(edit: &Edit<'_>, key: Key) -> Result<InterfaceKind> {
    match &edit.store.entry(key)?.body {
        Body::Interface { kind, .. } => Ok(*kind),
        _ => Err(fault::BAD_ARGUMENT),
    }
}

fn check_base(kind: InterfaceKind, base: InterfaceKind) -> Result<()> {
    match (kind, base) {
        (InterfaceKind::Plain, InterfaceKind::Local) => Err(fault::BAD_ARGUMENT),
        (InterfaceKind::Abstract, InterfaceKind::Plain | InterfaceKind::Local) => {
            Err(fault::CONCRETE_BASE)
        }
        _ => Ok(()),
    }
}
