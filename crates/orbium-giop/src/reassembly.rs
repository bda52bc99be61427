// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fragments put together (CORBA 3.3 Part 2, clause 9.4.9).

use core::fmt;

use crate::header::{HEADER_LEN, MessageHeader, MessageKind, u32_from};

/// Octets of the request id before the data of a Fragment from GIOP 1.2 on.
const FRAGMENT_ID_LEN: usize = 4;

/// What a peer may make us keep while its messages are incomplete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReassemblyLimits {
    /// Octets of one message when put together, header included.
    pub message: usize,
    /// Messages in assembly at the same time.
    pub messages: usize,
    /// Octets of all messages in assembly.
    pub total: usize,
}

impl Default for ReassemblyLimits {
    /// 64 MiB a message, 16 messages, 128 MiB in all.
    fn default() -> Self {
        Self {
            message: 64 << 20,
            messages: 16,
            total: 128 << 20,
        }
    }
}

/// Why a fragment was not taken. What was in assembly under its request id is
/// dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FragmentError {
    /// Messages of that kind, or of GIOP 1.0, are never fragmented.
    NotFragmentable(MessageKind),
    /// The message is too short for the request id it must start with.
    NoRequestId,
    /// A Fragment continues nothing. With a request id it may belong to a
    /// message that was cancelled or given up, and is best ignored.
    NothingToContinue(Option<u32>),
    /// A second message begins under an id that is in assembly, or, in GIOP
    /// 1.1, before the first has ended.
    AlreadyBegun,
    /// A Fragment differs from its beginning in version or byte order.
    Inconsistent,
    /// [`ReassemblyLimits::message`] would be exceeded.
    MessageTooLarge(Option<u32>),
    /// [`ReassemblyLimits::messages`] would be exceeded.
    TooManyMessages(Option<u32>),
    /// [`ReassemblyLimits::total`] would be exceeded.
    TooManyOctets(Option<u32>),
}

impl fmt::Display for FragmentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFragmentable(kind) => write!(f, "a {kind:?} message cannot be fragmented"),
            Self::NoRequestId => f.write_str("a fragmented message ends before its request id"),
            Self::NothingToContinue(Some(id)) => write!(f, "no request {id} to be continued"),
            Self::NothingToContinue(None) => f.write_str("a Fragment continues nothing"),
            Self::AlreadyBegun => f.write_str("a fragmented message begins before another ended"),
            Self::Inconsistent => f.write_str("a Fragment differs in version or byte order"),
            Self::MessageTooLarge(_) => f.write_str("a fragmented message is too large"),
            Self::TooManyMessages(_) => f.write_str("too many fragmented messages are incomplete"),
            Self::TooManyOctets(_) => f.write_str("incomplete messages hold too many octets"),
        }
    }
}

impl core::error::Error for FragmentError {}

/// A message of which more is to come.
#[derive(Debug)]
struct Partial {
    /// `None` in GIOP 1.1, where fragments just follow each other.
    id: Option<u32>,
    header: MessageHeader,
    /// Header and all data so far.
    octets: Vec<u8>,
}

/// Messages in assembly: those of one direction of one connection.
///
/// GIOP 1.2 fragments are told apart by request id and may be interleaved.
/// Alignment runs through the whole message, whose non-final fragments are
/// multiples of eight octets. In GIOP 1.1 one message is in assembly at a time,
/// and its data is aligned within each fragment; put together it stays aligned
/// as far as the lengths of the fragments allow, which is what other ORBs make
/// of it too.
#[derive(Debug, Default)]
pub struct Reassembly {
    limits: ReassemblyLimits,
    partial: Vec<Partial>,
    octets: usize,
}

impl Reassembly {
    /// Nothing in assembly.
    #[must_use]
    pub const fn new(limits: ReassemblyLimits) -> Self {
        Self {
            limits,
            partial: Vec::new(),
            octets: 0,
        }
    }

    /// Takes a message with `more_fragments`, or a Fragment; `body` is what
    /// follows its header. Returns the whole message when it is complete, its
    /// header set right.
    ///
    /// # Errors
    /// [`FragmentError`].
    pub fn accept(
        &mut self,
        header: &MessageHeader,
        body: &[u8],
    ) -> Result<Option<Vec<u8>>, FragmentError> {
        if header.version.minor == 0 {
            return Err(FragmentError::NotFragmentable(header.kind));
        }
        if header.kind == MessageKind::Fragment {
            self.proceed(header, body)
        } else {
            self.begin(header, body)
        }
    }

    fn begin(
        &mut self,
        header: &MessageHeader,
        body: &[u8],
    ) -> Result<Option<Vec<u8>>, FragmentError> {
        if !is_fragmentable(header) {
            return Err(FragmentError::NotFragmentable(header.kind));
        }
        let id = request_id(header, body)?;
        if self.drop_partial(id) {
            return Err(FragmentError::AlreadyBegun);
        }
        if header.more_fragments {
            if self.partial.len() >= self.limits.messages {
                return Err(FragmentError::TooManyMessages(id));
            }
            self.check(id, 0, HEADER_LEN + body.len())?;
        }
        let mut octets = Vec::with_capacity(HEADER_LEN + body.len());
        octets.extend_from_slice(&header.encode());
        octets.extend_from_slice(body);
        if !header.more_fragments {
            return Ok(Some(completed(*header, octets)));
        }
        self.octets += octets.len();
        self.partial.push(Partial {
            id,
            header: *header,
            octets,
        });
        Ok(None)
    }

    fn proceed(
        &mut self,
        header: &MessageHeader,
        body: &[u8],
    ) -> Result<Option<Vec<u8>>, FragmentError> {
        let id = request_id(header, body)?;
        let data = body.get(id.map_or(0, |_| FRAGMENT_ID_LEN)..);
        let (Some(at), Some(data)) = (self.find(id), data) else {
            return Err(FragmentError::NothingToContinue(id));
        };
        let first = self.partial[at].header;
        let checked = if first.version != header.version || first.order != header.order {
            Err(FragmentError::Inconsistent)
        } else {
            self.check(id, self.partial[at].octets.len(), data.len())
        };
        if let Err(error) = checked {
            self.drop_partial(id);
            return Err(error);
        }
        let partial = &mut self.partial[at];
        partial.octets.extend_from_slice(data);
        self.octets += data.len();
        if header.more_fragments {
            return Ok(None);
        }
        let Partial { octets, header, .. } = self.partial.swap_remove(at);
        self.octets -= octets.len();
        Ok(Some(completed(header, octets)))
    }

    /// Whether `more` octets may be added to a message that has `have`.
    fn check(&self, id: Option<u32>, have: usize, more: usize) -> Result<(), FragmentError> {
        let most = self.limits.message.min(u32::MAX as usize);
        if more > most.saturating_sub(have) {
            return Err(FragmentError::MessageTooLarge(id));
        }
        if more > self.limits.total.saturating_sub(self.octets) {
            return Err(FragmentError::TooManyOctets(id));
        }
        Ok(())
    }

    fn find(&self, id: Option<u32>) -> Option<usize> {
        self.partial.iter().position(|partial| partial.id == id)
    }

    fn drop_partial(&mut self, id: Option<u32>) -> bool {
        let Some(at) = self.find(id) else {
            return false;
        };
        self.octets -= self.partial.swap_remove(at).octets.len();
        true
    }

    /// Drops the message in assembly under a request id, as a CancelRequest
    /// asks. Returns whether there was one.
    pub fn cancel(&mut self, request_id: u32) -> bool {
        self.drop_partial(Some(request_id))
    }

    /// Whether a GIOP 1.1 message is in assembly, so that nothing but its next
    /// Fragment may follow.
    #[must_use]
    pub fn expects_contiguous(&self) -> bool {
        self.find(None).is_some()
    }

    /// Whether nothing is in assembly.
    #[must_use]
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.partial.is_empty()
    }

    /// Messages in assembly.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.partial.len()
    }

    /// Octets kept for them.
    #[must_use]
    pub const fn octets(&self) -> usize {
        self.octets
    }
}

/// Whether messages of that kind may be fragmented in that version.
pub(crate) const fn is_fragmentable(header: &MessageHeader) -> bool {
    match header.kind {
        MessageKind::Request | MessageKind::Reply => header.version.minor >= 1,
        MessageKind::LocateRequest | MessageKind::LocateReply => header.version.minor >= 2,
        _ => false,
    }
}

/// The request id that every fragmentable message starts with from 1.2 on.
fn request_id(header: &MessageHeader, body: &[u8]) -> Result<Option<u32>, FragmentError> {
    if header.version.minor < 2 {
        return Ok(None);
    }
    match body.first_chunk::<FRAGMENT_ID_LEN>() {
        Some(id) => Ok(Some(u32_from(*id, header.order))),
        None => Err(FragmentError::NoRequestId),
    }
}

fn completed(first: MessageHeader, mut octets: Vec<u8>) -> Vec<u8> {
    let header = MessageHeader {
        more_fragments: false,
        // Within 32 bits: `check` saw to it.
        size: (octets.len() - HEADER_LEN) as u32,
        ..first
    };
    octets[..HEADER_LEN].copy_from_slice(&header.encode());
    octets
}
