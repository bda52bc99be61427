// SPDX-License-Identifier: MIT OR Apache-2.0
//! Why a call reached nobody: what the reference offered, and what stood in the
//! way of each. Kept for the thread that called, and only when a call fails.

use std::cell::RefCell;
use std::fmt;

use orbium_giop::SystemException;

use crate::{Channel, ObjectRef, OfferedProtocol};

/// Failed connections that are remembered until the call fails as a whole.
const MOST_NOTES: usize = 32;

thread_local! {
    static LAST: RefCell<Option<Unreachable>> = const { RefCell::new(None) };
    /// What became of connections, by channel.
    static NOTES: RefCell<Vec<(Channel, String)>> = const { RefCell::new(Vec::new()) };
}

/// Why a call reached nobody. A [`SystemException`] is eight octets and has no
/// room for it; [`last_failure`] has.
///
/// ```
/// use orbium_core::Orb;
///
/// let orb = Orb::builder().client_protocols("uiop".parse()?).build()?;
/// let object = orb.string_to_object("corbaloc::localhost:5000/Cube")?.ok_or("nil")?;
/// let exception = object.is_a("IDL:Cube:1.0").unwrap_err();
/// let failure = orbium_core::last_failure().ok_or("no failure")?;
/// assert_eq!(failure.exception, exception);
/// assert!(failure.to_string().ends_with(
///     "iiop://localhost:5000: the policy does not name it"
/// ));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreachable {
    /// What the call raised.
    pub exception: SystemException,
    /// Every protocol that the reference offered, and why it was not usable.
    pub offered: Vec<OfferedProtocol>,
}

impl Unreachable {
    /// The protocols and what stood in the way of each, without the exception.
    #[must_use]
    #[inline]
    pub fn reasons(&self) -> String {
        match self.offered.as_slice() {
            [] => "the reference offers no protocol".to_owned(),
            offered => OfferedProtocol::list(offered),
        }
    }
}

impl fmt::Display for Unreachable {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.exception, self.reasons())
    }
}

impl std::error::Error for Unreachable {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.exception)
    }
}

/// Why the last call of this thread that reached nobody did not: no protocol
/// could be used, or nothing could be connected to. `None` if there was none.
///
/// Later calls that succeed, or that fail once they have reached a server, leave
/// it as it is: its [`exception`](Unreachable::exception) is that of the call
/// that it explains. Calls that succeed pay nothing for it.
#[must_use]
#[inline]
pub fn last_failure() -> Option<Unreachable> {
    LAST.with_borrow(Clone::clone)
}

/// Remembers why a connection could not be made.
#[cold]
pub(super) fn note(channel: &Channel, reason: &dyn fmt::Display) {
    NOTES.with_borrow_mut(|notes| {
        notes.retain(|(noted, _)| noted != channel);
        if notes.len() < MOST_NOTES {
            notes.push((channel.clone(), reason.to_string()));
        }
    });
}

/// Remembers that a call through that reference reached nobody.
#[cold]
pub(super) fn explain(object: &ObjectRef, oneway: bool, exception: SystemException) {
    let notes = NOTES.take();
    let mut offered = object.protocols();
    for protocol in &mut offered {
        let Some(channel) = protocol.channel.as_ref() else {
            continue;
        };
        if protocol.refusal.is_some() {
            continue;
        }
        let noted = notes.iter().find(|(noted, _)| noted == channel);
        let datagrams = object.orb().config().protocols.is_datagram(channel);
        protocol.refusal = match noted {
            Some((_, reason)) => Some(reason.clone()),
            None if datagrams && !oneway => Some("it has no way back for an answer".into()),
            None => None,
        };
    }
    let failure = Unreachable { exception, offered };
    LAST.set(Some(failure));
}
