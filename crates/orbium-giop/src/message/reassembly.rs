// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reassembly of fragmented messages (CORBA 3.3 Part 2, clause 9.4.9).

use core::fmt;
use core::ops::{Deref, DerefMut};

use crate::message::header::{HEADER_LEN, MessageHeader, MessageKind, u32_from};

/// Octets of the request id before the data of a Fragment from GIOP 1.2 on.
const FRAGMENT_ID_LEN: usize = 4;

/// Limits of the memory that a peer's incomplete messages may occupy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReassemblyLimits {
    /// Octets of one reassembled message, header included.
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

/// Error of a rejected fragment. The partial message under its request id is discarded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum FragmentError {
    /// Messages of that kind, or of GIOP 1.0, are never fragmented.
    NotFragmentable(MessageKind),
    /// The message is too short for the request id at its start.
    NoRequestId,
    /// A Fragment continues no message in assembly. With a request id it may belong to a message
    /// that was cancelled or discarded, and is best ignored.
    NothingToContinue(Option<u32>),
    /// A second message begins under an id that is in assembly or, in GIOP 1.1, before the first
    /// has ended.
    AlreadyBegun,
    /// A Fragment differs from its beginning in version or byte order.
    Inconsistent,
    /// [`ReassemblyLimits::message`] would be exceeded.
    MessageTooLarge(Option<u32>),
    /// [`ReassemblyLimits::messages`] would be exceeded.
    TooManyMessages(Option<u32>),
    /// [`ReassemblyLimits::total`] would be exceeded.
    TooManyOctets(Option<u32>),
    /// The system has no memory for it.
    NoMemory(Option<u32>),
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
            Self::NoMemory(_) => f.write_str("no memory for a fragmented message"),
        }
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for FragmentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl core::error::Error for FragmentError {}

/// A message with outstanding fragments.
#[derive(Debug)]
struct Partial {
    /// `None` in GIOP 1.1, which has no ids in fragments.
    id: Option<u32>,
    header: MessageHeader,
    assembled: Assembled,
}

/// A reassembled message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assembled {
    /// The message: its header, and the data of all fragments.
    pub octets: Vec<u8>,
    /// Offsets in `octets` at which the data of each fragment but the first begin, if they are
    /// aligned within the fragment, as in GIOP 1.1: for
    /// [`CdrReader::with_fragment_boundaries`](orbium_cdr::CdrReader::with_fragment_boundaries).
    pub seams: Vec<u32>,
}

impl Assembled {
    /// Reserves room for the data of another fragment.
    fn reserve(&mut self, id: Option<u32>, more: usize, seam: bool) -> Result<(), FragmentError> {
        let octets = self.octets.try_reserve(more);
        octets
            .and_then(|()| self.seams.try_reserve(usize::from(seam)))
            .map_err(|_| FragmentError::NoMemory(id))
    }

    /// Octets of memory in use.
    const fn cost(&self) -> usize {
        self.octets.len() + self.seams.len() * SEAM
    }
}

impl Deref for Assembled {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.octets
    }
}

impl DerefMut for Assembled {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.octets
    }
}

/// The size of a recorded boundary. It counts as received octets, as a peer could otherwise exhaust
/// memory by fragments of one octet.
const SEAM: usize = size_of::<u32>();

/// Messages in assembly: those of one direction of one connection.
///
/// GIOP 1.2 fragments are distinguished by request id and may be interleaved. Alignment
/// runs through the whole message: its non-final fragments are multiples of eight
/// octets. In GIOP 1.1 one message is in assembly at a time, and its data are aligned
/// within each fragment, so the fragment boundaries are kept: [`Assembled::seams`].
#[derive(Debug, Default)]
pub struct Reassembly {
    limits: ReassemblyLimits,
    partial: Vec<Partial>,
    octets: usize,
    /// Whether the last discarded message is a request with a reply.
    dropped_expects_reply: bool,
}

impl Reassembly {
    /// No messages in assembly.
    #[must_use]
    pub const fn new(limits: ReassemblyLimits) -> Self {
        Self {
            limits,
            partial: Vec::new(),
            octets: 0,
            dropped_expects_reply: false,
        }
    }

    /// Takes a message with `more_fragments`, or a Fragment; `body` is the part after its header.
    /// Returns the whole message when it is complete, with its header corrected.
    ///
    /// # Errors
    /// [`FragmentError`].
    pub fn accept(
        &mut self,
        header: &MessageHeader,
        body: &[u8],
    ) -> Result<Option<Assembled>, FragmentError> {
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
    ) -> Result<Option<Assembled>, FragmentError> {
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
            let checked = self.check(id, 0, HEADER_LEN + body.len());
            if checked.is_err() {
                self.dropped_expects_reply = expects_reply(header, body);
            }
            checked?;
        }
        let mut octets = Vec::new();
        octets
            .try_reserve_exact(HEADER_LEN + body.len())
            .map_err(|_| FragmentError::NoMemory(id))?;
        octets.extend_from_slice(&header.encode());
        octets.extend_from_slice(body);
        let assembled = Assembled {
            octets,
            seams: Vec::new(),
        };
        if !header.more_fragments {
            return Ok(Some(completed(*header, assembled)));
        }
        self.octets += assembled.cost();
        self.partial.push(Partial {
            id,
            header: *header,
            assembled,
        });
        Ok(None)
    }

    fn proceed(
        &mut self,
        header: &MessageHeader,
        body: &[u8],
    ) -> Result<Option<Assembled>, FragmentError> {
        let id = request_id(header, body)?;
        let data = body.get(id.map_or(0, |_| FRAGMENT_ID_LEN)..);
        let (Some(at), Some(data)) = (self.find(id), data) else {
            return Err(FragmentError::NothingToContinue(id));
        };
        let first = self.partial[at].header;
        // Empty fragments have no boundary.
        let seam = header.version.minor < 2 && !data.is_empty();
        let more = data.len() + if seam { SEAM } else { 0 };
        let checked = if first.version != header.version || first.order != header.order {
            Err(FragmentError::Inconsistent)
        } else {
            let cost = self.partial[at].assembled.cost();
            self.check(id, cost, more)
                .and_then(|()| self.partial[at].assembled.reserve(id, data.len(), seam))
        };
        if let Err(error) = checked {
            let begun = &self.partial[at].assembled.octets[HEADER_LEN..];
            self.dropped_expects_reply = expects_reply(&first, begun);
            self.drop_partial(id);
            return Err(error);
        }
        let assembled = &mut self.partial[at].assembled;
        if seam {
            // Within 32 bits: `check` saw to it.
            assembled.seams.push(assembled.octets.len() as u32);
        }
        assembled.octets.extend_from_slice(data);
        self.octets += more;
        if header.more_fragments {
            return Ok(None);
        }
        let Partial {
            assembled, header, ..
        } = self.partial.swap_remove(at);
        self.octets -= assembled.cost();
        Ok(Some(completed(header, assembled)))
    }

    /// Checks whether `more` octets may be added to a message of `have` octets.
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

    /// Whether the last message that exceeded a limit was a request of GIOP 1.2 that expects a
    /// reply.
    #[must_use]
    pub const fn dropped_expects_reply(&self) -> bool {
        self.dropped_expects_reply
    }

    fn find(&self, id: Option<u32>) -> Option<usize> {
        self.partial.iter().position(|partial| partial.id == id)
    }

    fn drop_partial(&mut self, id: Option<u32>) -> bool {
        let at = self.find(id);
        at.map(|at| self.remove(at)).is_some()
    }

    /// Discards the message that a Fragment continues, and returns its header and its octets from
    /// the header on; `None` if there is no such message.
    pub fn give_up(
        &mut self,
        header: &MessageHeader,
        body: &[u8],
    ) -> Option<(MessageHeader, Vec<u8>)> {
        let at = self.find(request_id(header, body).ok()?)?;
        Some(self.remove(at))
    }

    /// Removes the first message in assembly for which `is_it` is true of its header and its octets
    /// from the header on, and returns them.
    pub fn take(
        &mut self,
        is_it: impl Fn(&MessageHeader, &[u8]) -> bool,
    ) -> Option<(MessageHeader, Vec<u8>)> {
        let mut partial = self.partial.iter();
        let at = partial.position(|it| is_it(&it.header, &it.assembled.octets))?;
        Some(self.remove(at))
    }

    fn remove(&mut self, at: usize) -> (MessageHeader, Vec<u8>) {
        let Partial {
            header, assembled, ..
        } = self.partial.swap_remove(at);
        self.octets -= assembled.cost();
        (header, assembled.octets)
    }

    /// The kind of the message that a Fragment continues, if one is in assembly.
    #[must_use]
    pub fn begun(&self, header: &MessageHeader, body: &[u8]) -> Option<MessageKind> {
        let at = self.find(request_id(header, body).ok()?)?;
        Some(self.partial[at].header.kind)
    }

    /// Whether a GIOP 1.1 message is in assembly, so that only its next Fragment may follow.
    #[must_use]
    #[inline]
    pub fn expects_contiguous(&self) -> bool {
        self.find(None).is_some()
    }

    /// The limits.
    #[must_use]
    pub const fn limits(&self) -> ReassemblyLimits {
        self.limits
    }

    /// Changes the limits for subsequent fragments.
    pub const fn set_limits(&mut self, limits: ReassemblyLimits) {
        self.limits = limits;
    }

    /// Whether a request is in assembly.
    #[must_use]
    pub fn has_requests(&self) -> bool {
        let is_request = |kind| matches!(kind, MessageKind::Request | MessageKind::LocateRequest);
        self.partial.iter().any(|it| is_request(it.header.kind))
    }

    /// Whether no messages are in assembly.
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

    /// Octets of the messages in assembly.
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

/// Whether a message is a GIOP 1.2 request that expects a reply: its flags follow its id.
fn expects_reply(header: &MessageHeader, body: &[u8]) -> bool {
    let flags = body.get(FRAGMENT_ID_LEN).copied().unwrap_or(0);
    header.kind == MessageKind::Request && header.version.minor >= 2 && flags & 1 != 0
}

fn completed(first: MessageHeader, mut assembled: Assembled) -> Assembled {
    let header = MessageHeader {
        more_fragments: false,
        // Within 32 bits: `check` saw to it.
        size: (assembled.octets.len() - HEADER_LEN) as u32,
        ..first
    };
    assembled.octets[..HEADER_LEN].copy_from_slice(&header.encode());
    assembled
}
