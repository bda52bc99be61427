// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages in fragments: reassembled, charged to the budget, and discarded if there is no memory
//! for them.

use std::time::{Duration, Instant};

use orbium_cdr::ByteOrder;
use orbium_giop::{
    Assembled, Completion, ExceptionKind, FragmentError, HEADER_LEN, MessageHeader, MessageKind,
    Reassembly, ReassemblyLimits, SystemException, minor,
};

use super::event::{Cause, Refused, Violation};
use super::refusal::refused;
use super::role::of_both_sides;
use crate::framing::{Framing, failure, refusal};
use crate::peer_memory::{Budget, Charge, SMALL, counted};

/// The messages in assembly of one direction of a connection.
#[derive(Debug, Default)]
pub struct Assembly {
    reassembly: Reassembly,
    charge: Charge,
    /// Time by which the messages in assembly must be complete.
    deadline: Option<Instant>,
    time: Option<Duration>,
}

/// A reassembled message with its charge.
#[derive(Debug, Default)]
pub struct Whole {
    /// Its octets, and the boundaries of its fragments.
    pub message: Assembled,
    /// Held as long as the octets are.
    pub charge: Charge,
}

impl Whole {
    /// A message created here, without a charge.
    pub(super) fn of(octets: Vec<u8>) -> Self {
        let seams = Vec::new();
        Self {
            message: Assembled { octets, seams },
            charge: Charge::default(),
        }
    }
}

/// The effect of a fragment.
#[derive(Debug)]
pub(super) enum Added {
    /// More fragments are outstanding, or it was discarded.
    Partial,
    /// The message is complete; or a reply that replaces one for which there is no memory.
    Whole(Whole),
    /// The request that it is of was dropped.
    Refused(Refused),
}

impl Assembly {
    /// No messages in assembly. A message must be complete `time` after it began.
    #[must_use]
    pub fn new(limits: ReassemblyLimits, time: Option<Duration>, budget: &Budget) -> Self {
        Self {
            reassembly: Reassembly::new(limits),
            charge: budget.charge(),
            deadline: None,
            time,
        }
    }

    /// Changes its limits to those of both directions of a connection.
    pub(super) fn widen(&mut self) {
        self.reassembly
            .set_limits(of_both_sides(self.reassembly.limits()));
    }

    /// Whether no messages are in assembly.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.reassembly.is_empty()
    }

    /// Whether a message was not completed in time.
    #[must_use]
    pub fn is_late(&self, now: Instant) -> bool {
        self.deadline.is_some_and(|deadline| now >= deadline)
    }

    /// Time by which the messages in assembly must be complete.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Discards the request in assembly under a request id. In GIOP 1.1 the id follows the service
    /// contexts: a message of which these are incomplete may be that request, and no other can have
    /// begun.
    pub(super) fn cancel(&mut self, id: u32, now: &dyn Fn() -> Instant) {
        self.reassembly.take(|header, octets| {
            let is_request = !matches!(header.kind, MessageKind::Reply | MessageKind::LocateReply);
            is_request && crate::request_id(header, octets).is_none_or(|it| it == id)
        });
        self.settle(false, now);
    }

    /// The connection is closed: discards a reply in assembly, if any, and returns a reply with an
    /// exception in its place. Its request was served, unlike those without the beginning of a
    /// reply.
    pub(super) fn interrupted(&mut self) -> Result<Option<Whole>, Violation> {
        let begun = self.reassembly.take(|it, _| it.kind == MessageKind::Reply);
        let Some((header, octets)) = begun else {
            return Ok(None);
        };
        let _ = self.charge.set(counted(self.reassembly.octets()));
        // It may be the reply to any request.
        let id = crate::request_id(&header, &octets).ok_or(Violation::NoRequestId)?;
        let lost = minor::CONNECTION_LOST;
        let lost = SystemException::orbium(ExceptionKind::CommFailure, lost, Completion::Maybe);
        Ok(Some(Whole::of(failure(&header, id, lost))))
    }

    /// The kind of the message to which a fragment belongs.
    pub(super) fn kind_of(&self, header: &MessageHeader, body: &[u8]) -> Option<MessageKind> {
        match header.kind {
            MessageKind::Fragment => self.reassembly.begun(header, body),
            kind => Some(kind),
        }
    }

    /// Takes the fragment with that header out of the framing.
    pub(super) fn accept(
        &mut self,
        header: &MessageHeader,
        framing: &mut Framing,
        now: &dyn Fn() -> Instant,
    ) -> Result<Added, FragmentError> {
        let more = header.size as usize;
        let total = self.reassembly.octets().saturating_add(more);
        let charged = total <= SMALL || self.charge.set(total).is_ok();
        let body = &framing.message(header)[HEADER_LEN..];
        let kind = self.kind_of(header, body);
        let accepted = if charged {
            self.reassembly.accept(header, body)
        } else {
            Err(FragmentError::NoMemory(None))
        };
        let completed = matches!(accepted, Ok(Some(_)));
        let added = match accepted {
            Ok(None) | Err(FragmentError::NothingToContinue(Some(_))) => Ok(Added::Partial),
            Ok(Some(message)) => Ok(Added::Whole(self.charged(message))),
            Err(FragmentError::NoMemory(dropped)) => {
                framing.budget().count_refused();
                self.refuse(header, framing.message(header), dropped.and(kind))
            }
            Err(FragmentError::MessageTooLarge(Some(id))) if kind == Some(MessageKind::Request) => {
                Ok(Added::Refused(self.too_large(header, id)))
            }
            Err(error) => Err(error),
        };
        framing.consume(header);
        self.settle(completed, now);
        added
    }

    /// A request exceeds the limit of messages: its further fragments continue no message.
    fn too_large(&self, header: &MessageHeader, request_id: u32) -> Refused {
        Refused {
            version: header.version,
            request_id,
            expects_reply: self.reassembly.dropped_expects_reply(),
            octets: header.size as usize,
            cause: Cause::TooLarge(None),
        }
    }

    /// Discards the message that a Fragment continues, and the Fragment, for which the framing has
    /// no memory.
    pub(super) fn skip(
        &mut self,
        header: &MessageHeader,
        framing: &mut Framing,
        now: &dyn Fn() -> Instant,
    ) -> Result<Added, FragmentError> {
        let refused = self.refuse(header, framing.received(), None);
        framing.skip();
        self.settle(false, now);
        refused
    }

    /// Discards the message of a fragment. `dropped` is its kind, if it is no longer in assembly.
    fn refuse(
        &mut self,
        header: &MessageHeader,
        fragment: &[u8],
        dropped: Option<MessageKind>,
    ) -> Result<Added, FragmentError> {
        let body = &fragment[HEADER_LEN..];
        let id = request_id(header, body);
        let begun = self.reassembly.give_up(header, body);
        let (first, begins) = match &begun {
            Some((first, octets)) => (*first, octets.as_slice()),
            None => (*header, fragment),
        };
        let kind = match (header.kind, &begun) {
            (MessageKind::Fragment, None) => match dropped {
                Some(kind) => kind,
                // The rest of a message that was given up.
                None => return Ok(Added::Partial),
            },
            _ => first.kind,
        };
        let has_id = header.version.minor >= 2;
        let refused = match kind {
            // Without an id in its fragments, subsequent ones cannot be assigned.
            _ if !has_id && header.kind == MessageKind::Fragment => None,
            MessageKind::Reply => id
                .filter(|_| has_id)
                .map(|id| Added::Whole(Whole::of(refusal(header, id)))),
            MessageKind::Request if first.kind != MessageKind::Request => id.map(|request_id| {
                Added::Refused(Refused {
                    version: header.version,
                    request_id,
                    expects_reply: self.reassembly.dropped_expects_reply(),
                    octets: header.size as usize,
                    cause: Cause::NoMemory,
                })
            }),
            MessageKind::Request => refused(&first, begins, Cause::NoMemory).map(Added::Refused),
            _ => None,
        };
        refused.ok_or(FragmentError::NoMemory(id))
    }

    /// A complete message, with its part of the charge.
    fn charged(&mut self, message: Assembled) -> Whole {
        let empty = self.charge.budget().charge();
        let mut charge = std::mem::replace(&mut self.charge, empty);
        // Less is never refused.
        let _ = charge.set(counted(message.octets.len()));
        Whole { message, charge }
    }

    /// Charges the messages still in assembly, and sets the time by which they must be complete.
    fn settle(&mut self, completed: bool, now: &dyn Fn() -> Instant) {
        let _ = self.charge.set(counted(self.reassembly.octets()));
        if !self.reassembly.has_requests() {
            // The callers of replies have their own deadlines.
            self.deadline = None;
        } else if completed || self.deadline.is_none() {
            self.deadline = self.time.and_then(|time| now().checked_add(time));
        }
    }
}

/// The request id, which is first from GIOP 1.2 on.
fn request_id(header: &MessageHeader, body: &[u8]) -> Option<u32> {
    let id = body.first_chunk()?;
    Some(match header.order {
        ByteOrder::Big => u32::from_be_bytes(*id),
        ByteOrder::Little => u32::from_le_bytes(*id),
    })
}

pub(super) fn header_of(whole: &Whole) -> Option<MessageHeader> {
    MessageHeader::parse_any(whole.message.octets.first_chunk()?)
}
