// SPDX-License-Identifier: MIT OR Apache-2.0
//! Numbers for object keys and operation names on a connection, after GOPI's FRAG protocol (G.
//! Coulson, S. Baichoo, "Implementing the CORBA GIOP in a High-Performance Object Request Broker
//! Environment", section 8).
//!
//! The client assigns the numbers. The first request that names an object or an operation
//! [defines](crate::Headers::NUMBERED) the numbers of both; subsequent ones have the numbers only,
//! in a header of twelve octets with everything at a fixed offset. A number keeps its meaning for
//! the lifetime of the connection, so a definition may be repeated, and the meaning of a request
//! does not depend on when it is sent. Once all numbers are assigned, further names are sent as
//! names.

use std::collections::HashMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use orbium_cdr::ByteOrder;

use crate::message::header::{HEADER_LEN, MessageHeader};
use crate::messaging::MessagingError;
use crate::short::{
    Asked, DEFINES, MARK, NATIVE, NUMBERED, NumberedTarget as Target, Short, order_of,
    short_request,
};

/// Maximum number of objects, and of operations, with numbers on a connection.
pub(crate) const SLOTS: usize = 256;

/// Maximum octets of a name that is assigned a number.
pub(crate) const MAX_NAME: usize = 255;

/// Octets of the numbers that a request defines.
pub(crate) const DEFINITION: usize = 4;

/// Names by number at the receiver of requests. A number is defined once, so threads share the
/// names without a lock.
#[derive(Debug)]
pub struct Names {
    objects: [Name; SLOTS],
    operations: [Name; SLOTS],
}

type Name = OnceLock<Box<[u8]>>;

impl Default for Names {
    fn default() -> Self {
        Self {
            objects: [const { OnceLock::new() }; SLOTS],
            operations: [const { OnceLock::new() }; SLOTS],
        }
    }
}

/// Offset of the body of a request with numbers.
pub(crate) const BODY: usize = 16;

impl Names {
    /// Whether a whole message with a short header has numbers in place of names.
    #[must_use]
    #[inline]
    pub fn are_needed_for(message: &[u8]) -> bool {
        message.first().is_some_and(|form| form & NUMBERED != 0)
    }

    /// Whether a whole message with a short header has or defines numbers.
    #[must_use]
    pub fn concern(message: &[u8]) -> bool {
        let form = message.first();
        form.is_some_and(|form| form & (NUMBERED | DEFINES) != 0)
    }

    /// The object key and the operation name of these numbers; `None` if one is undefined.
    #[inline(always)]
    pub(crate) fn meanings(&self, object: usize, operation: usize) -> Option<(&[u8], &[u8])> {
        let key = self.objects.get(object)?.get()?;
        let operation = self.operations.get(operation)?.get()?;
        Some((key, operation))
    }

    /// Appends to `out` the equivalent request with names for one that has or defines numbers.
    ///
    /// # Errors
    /// An undefined number, or one defined with another name; [`MessagingError::Truncated`].
    pub fn named(&self, message: &[u8], out: &mut Vec<u8>) -> Result<(), MessagingError> {
        let Some((head, rest)) = message.split_first_chunk::<HEADER_LEN>() else {
            return Err(MessagingError::Truncated);
        };
        let (key, operation, body) = match head[0] & DEFINES {
            0 => {
                let asked = short_request(head);
                let key = meaning(&self.objects, asked.key)?;
                let operation = meaning(&self.operations, asked.operation)?;
                (key, operation, BODY - HEADER_LEN)
            }
            _ => self.defined(head, rest)?,
        };
        let body = &rest[body.min(rest.len())..];
        let Some(says) = Asked::new(short_request(head).response as u8, key, operation) else {
            return Err(MessagingError::TooLarge);
        };
        let short = Short {
            order: order_of(head[0]),
            id: short_request(head).id,
            says,
            native: head[0] & NATIVE != 0,
            body: body.len(),
        };
        short.append(out);
        out.extend_from_slice(body);
        Ok(())
    }

    /// Octets that [`named`](Self::named) appends for a request with that header, at most.
    #[must_use]
    pub const fn most_named(header: &MessageHeader) -> usize {
        HEADER_LEN + header.size as usize + 2 * MAX_NAME + 8
    }

    /// Stores the numbers that a request defines. `begun` is the message as far as it has been
    /// received, for a message that is discarded.
    ///
    /// # Errors
    /// As [`named`](Self::named); [`MessagingError::Truncated`] if more octets are needed.
    pub fn define(&self, begun: &[u8]) -> Result<(), MessagingError> {
        match begun.split_first_chunk() {
            Some((head, rest)) if head[0] & MARK != 0 && head[0] & DEFINES != 0 => {
                self.defined(head, rest).map(drop)
            }
            Some(_) => Ok(()),
            None => Err(MessagingError::Truncated),
        }
    }

    /// Stores the numbers of the names in a request; returns the names, and the offset of its body
    /// after the message header.
    fn defined<'m>(
        &self,
        head: &[u8; HEADER_LEN],
        rest: &'m [u8],
    ) -> Result<(&'m [u8], &'m [u8], usize), MessagingError> {
        let lens = short_request(head);
        let Some((&[o0, o1, operation_number, 0], names)) = rest.split_first_chunk() else {
            return Err(MessagingError::Truncated);
        };
        let object = match order_of(head[0]) {
            ByteOrder::Big => u16::from_be_bytes([o0, o1]),
            ByteOrder::Little => u16::from_le_bytes([o0, o1]),
        };
        let cut = |at: &'m [u8], len| at.split_at_checked(len).ok_or(MessagingError::Truncated);
        let (key, names) = cut(names, lens.key)?;
        let (operation, _) = cut(names, lens.operation)?;
        mean(&self.objects, object, key)?;
        mean(&self.operations, u16::from(operation_number), operation)?;
        let end = HEADER_LEN + DEFINITION + key.len() + operation.len();
        Ok((key, operation, end.next_multiple_of(8) - HEADER_LEN))
    }
}

fn meaning(names: &[Name], number: usize) -> Result<&[u8], MessagingError> {
    // From two octets.
    let shown = number as u16;
    let name = names.get(number).ok_or(MessagingError::OutOfTable(shown))?;
    name.get()
        .map(|name| &**name)
        .ok_or(MessagingError::Unbound(shown))
}

fn mean(names: &[Name], number: u16, name: &[u8]) -> Result<(), MessagingError> {
    let slot = names.get(usize::from(number));
    let slot = slot.ok_or(MessagingError::OutOfTable(number))?;
    if name.len() > MAX_NAME {
        return Err(MessagingError::TooLarge);
    }
    if **slot.get_or_init(|| name.into()) == *name {
        Ok(())
    } else {
        Err(MessagingError::Refused("a number has another meaning"))
    }
}

/// The representation of object and operation in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Naming {
    /// By numbers that the receiver has.
    Numbers(Target),
    /// By their names, which are assigned these numbers.
    Definition(Target),
    /// By their names.
    Names,
}

/// Numbers by name at the sender of requests: those assigned on a connection.
#[derive(Debug)]
pub struct Numbers {
    recent: [Recent; RECENT],
    objects: Numbered,
    operations: Numbered,
    /// The definition in the last written request, if any.
    pending: Option<Target>,
}

impl Default for Numbers {
    fn default() -> Self {
        Self {
            recent: [Recent::default(); RECENT],
            objects: Numbered::default(),
            operations: Numbered::default(),
            pending: None,
        }
    }
}

/// Capacity of the cache of pairs of object and operation.
const RECENT: usize = 64;

/// A cached pair: the numbers of the names of a template and of an operation.
#[derive(Clone, Copy, Debug, Default)]
struct Recent {
    /// 0 in an empty entry: no template has this id.
    template: u64,
    operation: usize,
    target: Target,
}

#[derive(Debug, Default)]
struct Numbered {
    by_name: HashMap<Box<[u8]>, Given>,
}

#[derive(Clone, Copy, Debug)]
struct Given {
    number: u8,
    /// Whether the receiver has it.
    is_defined: bool,
}

impl Numbered {
    /// The number of a name, newly assigned if necessary; `None` if all are in use.
    fn give(&mut self, name: &[u8]) -> Option<Given> {
        if let Some(given) = self.by_name.get(name) {
            return Some(*given);
        }
        if name.len() > MAX_NAME {
            return None;
        }
        let number = u8::try_from(self.by_name.len()).ok()?;
        let given = Given {
            number,
            is_defined: false,
        };
        self.by_name.insert(name.into(), given);
        Some(given)
    }

    fn note_defined(&mut self, number: u16) {
        let given = self.by_name.values_mut();
        for given in given.filter(|it| u16::from(it.number) == number) {
            given.is_defined = true;
        }
    }
}

/// Identifies a template of requests for as long as the process lasts.
pub(crate) fn next_template() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl Numbers {
    /// Operations of an interface are at regular distances of 64 octets or more, so that several
    /// operations, and those of several objects, have different entries.
    #[inline(always)]
    fn place(template: u64, operation: usize) -> usize {
        (operation / 64).wrapping_add((template as usize).wrapping_mul(13)) % RECENT
    }

    /// The cached numbers of this template and the operation at this address.
    #[inline(always)]
    pub(crate) fn recent(&self, template: u64, operation: usize) -> Option<Target> {
        let recent = &self.recent[Self::place(template, operation)];
        let is_noted = recent.template == template && recent.operation == operation;
        is_noted.then_some(recent.target)
    }

    /// Caches the numbers of this template and of the operation at this address.
    pub(crate) fn note(&mut self, template: u64, operation: usize, target: Target) {
        self.recent[Self::place(template, operation)] = Recent {
            template,
            operation,
            target,
        };
    }

    /// Selects the representation for the next request. The previous one was sent, or
    /// [`forget_unsent`](Self::forget_unsent) was called.
    pub(crate) fn bind(&mut self, key: &[u8], operation: &[u8]) -> Naming {
        if let Some(sent) = self.pending.take() {
            self.objects.note_defined(sent.object);
            self.operations.note_defined(u16::from(sent.operation));
        }
        let (Some(object), Some(operation)) =
            (self.objects.give(key), self.operations.give(operation))
        else {
            return Naming::Names;
        };
        let target = Target {
            object: u16::from(object.number),
            operation: operation.number,
        };
        if object.is_defined && operation.is_defined {
            return Naming::Numbers(target);
        }
        self.pending = Some(target);
        Naming::Definition(target)
    }

    /// The request that was written last was not sent, or perhaps not.
    #[cold]
    pub fn forget_unsent(&mut self) {
        self.pending = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_used_once_its_definition_was_sent() {
        let mut numbers = Numbers::default();
        let target = Target {
            object: 0,
            operation: 0,
        };
        assert_eq!(numbers.bind(b"Key", b"op"), Naming::Definition(target));
        numbers.forget_unsent();
        assert_eq!(numbers.bind(b"Key", b"op"), Naming::Definition(target));
        assert_eq!(numbers.bind(b"Key", b"op"), Naming::Numbers(target));
        let other = Target {
            operation: 1,
            ..target
        };
        assert_eq!(numbers.bind(b"Key", b"other"), Naming::Definition(other));
        assert_eq!(numbers.bind(b"Key", b"op"), Naming::Numbers(target));
        assert_eq!(numbers.bind(b"Key", b"other"), Naming::Numbers(other));
    }

    #[test]
    fn names_beyond_the_numbers_go_without() {
        let mut numbers = Numbers::default();
        for i in 0..SLOTS as u32 {
            let naming = numbers.bind(&i.to_be_bytes(), b"op");
            assert!(matches!(naming, Naming::Definition(_)), "{i}");
        }
        assert_eq!(numbers.bind(b"more", b"op"), Naming::Names);
        let known = numbers.bind(&7_u32.to_be_bytes(), b"op");
        assert!(matches!(known, Naming::Numbers(Target { object: 7, .. })));
        assert_eq!(numbers.bind(&[7; MAX_NAME + 1], b"op"), Naming::Names);
    }

    /// Regression: each call of five operations in turn looked two of them up by name.
    #[test]
    fn operations_of_an_interface_have_places_of_their_own() {
        for distance in (64..200).step_by(8) {
            let mut numbers = Numbers::default();
            let operations = || (0..12).map(|at| 0x5555_5555_0008 + at * distance);
            for (number, operation) in (0..).zip(operations()) {
                let target = Target {
                    object: 0,
                    operation: number,
                };
                numbers.note(1, operation, target);
            }
            let found = operations().filter(|at| numbers.recent(1, *at).is_some());
            assert_eq!(found.count(), 12, "{distance}");
        }
    }
}
