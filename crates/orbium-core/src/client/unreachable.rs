// SPDX-License-Identifier: MIT OR Apache-2.0
//! Why a call reached nobody: what the reference offered, and what stood in the
//! way of each. Kept for the thread that called, and only when a call fails.

use std::cell::RefCell;
use std::fmt;

use orbium_giop::SystemException;

use crate::{Channel, ObjectRef, OfferedProtocol};

/// Failed connections that are remembered until the call fails as a whole.
const MOST_NOTES: usize = 32;

/// What is kept for a thread.
struct Kept {
    last: Option<Unreachable>,
    /// What became of connections, by channel.
    notes: Vec<(Channel, String)>,
}

thread_local! {
    static KEPT: RefCell<Kept> = const {
        RefCell::new(Kept {
            last: None,
            notes: Vec::new(),
        })
    };
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
    KEPT.with_borrow(|kept| kept.last.clone())
}

/// Remembers why a connection could not be made.
#[cold]
#[inline(never)]
pub(super) fn note(channel: &Channel, reason: &dyn fmt::Display) {
    let mut reason = reason.to_string();
    with_kept(&mut |kept| {
        for (noted, known) in &mut kept.notes {
            if noted == channel {
                *known = std::mem::take(&mut reason);
                return;
            }
        }
        if kept.notes.len() < MOST_NOTES {
            let reason = std::mem::take(&mut reason);
            kept.notes.push((channel.clone(), reason));
        }
    });
}

/// Remembers that a call through that reference reached nobody.
#[cold]
#[inline(never)]
pub(super) fn explain(object: &ObjectRef, oneway: bool, exception: SystemException) {
    let mut offered = object.protocols();
    with_kept(&mut |kept| {
        for protocol in &mut offered {
            let Some(channel) = protocol.channel.as_ref() else {
                continue;
            };
            if protocol.refusal.is_some() {
                continue;
            }
            let mut reason = None;
            if object.orb().config().protocols.is_datagram(channel) && !oneway {
                reason = Some("it has no way back for an answer");
            }
            for (noted, known) in &kept.notes {
                if noted == channel {
                    reason = Some(known);
                }
            }
            protocol.refusal = reason.map(str::to_owned);
        }
        kept.notes = Vec::new();
        let offered = std::mem::take(&mut offered);
        kept.last = Some(Unreachable { exception, offered });
    });
}

fn with_kept(work: &mut dyn FnMut(&mut Kept)) {
    KEPT.with_borrow_mut(work);
}
