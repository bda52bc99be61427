// SPDX-License-Identifier: MIT OR Apache-2.0
//! The twelve octets before every message (CORBA 3.3 Part 2, clause 9.4.1).

use core::fmt;

use orbium_cdr::{ByteOrder, CdrReader, Format};

/// Octets of a message header.
pub const HEADER_LEN: usize = 12;

const MAGIC: [u8; 4] = *b"GIOP";
/// Highest minor version that is read; 1.3 has the layout of 1.2.
const HIGHEST_MINOR: u8 = 3;
const FLAG_MORE_FRAGMENTS: u8 = 0x02;

/// A GIOP or IIOP version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// Major version: 1.
    pub major: u8,
    /// Minor version.
    pub minor: u8,
}

impl Version {
    /// GIOP 1.0.
    pub const V1_0: Self = Self { major: 1, minor: 0 };
    /// GIOP 1.1.
    pub const V1_1: Self = Self { major: 1, minor: 1 };
    /// GIOP 1.2: the highest that orbium sends.
    pub const V1_2: Self = Self { major: 1, minor: 2 };
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::SHORT {
            return f.write_str("1.2 with short headers");
        }
        if *self == Self::NATIVE {
            return f.write_str("1.2 in native representation");
        }
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// The kind of a message (`MsgType_1_1`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum MessageKind {
    /// An invocation.
    Request = 0,
    /// The answer to a request.
    Reply = 1,
    /// The requester no longer waits.
    CancelRequest = 2,
    /// Asks where an object is.
    LocateRequest = 3,
    /// Says where an object is.
    LocateReply = 4,
    /// Orderly end of the connection.
    CloseConnection = 5,
    /// The peer sent an invalid message.
    MessageError = 6,
    /// Continues a message (1.1 and later).
    Fragment = 7,
}

impl MessageKind {
    /// The kind with that octet.
    #[must_use]
    #[inline]
    pub const fn from_octet(octet: u8) -> Option<Self> {
        Some(match octet {
            0 => Self::Request,
            1 => Self::Reply,
            2 => Self::CancelRequest,
            3 => Self::LocateRequest,
            4 => Self::LocateReply,
            5 => Self::CloseConnection,
            6 => Self::MessageError,
            7 => Self::Fragment,
            _ => return None,
        })
    }
}

/// Error in twelve octets that are not a message header. The receiver replies with MessageError and
/// closes the connection.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum HeaderError {
    /// The message does not start with "GIOP".
    BadMagic([u8; 4]),
    /// A major version other than 1, or a minor version beyond 3.
    UnsupportedVersion(Version),
    /// A message type that does not exist.
    UnknownKind(u8),
    /// GIOP 1.0 has no fragments.
    FragmentInGiop10,
}

impl fmt::Display for HeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadMagic(found) => {
                write!(f, "not a GIOP message: it starts with {found:02x?}")
            }
            Self::UnsupportedVersion(version) => {
                write!(f, "GIOP version {version} is not supported")
            }
            Self::UnknownKind(kind) => write!(f, "there is no message type {kind}"),
            Self::FragmentInGiop10 => f.write_str("GIOP 1.0 has no Fragment message"),
        }
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for HeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl core::error::Error for HeaderError {}

/// A message header.
///
/// `version` is kept as received, so that a reply can carry the version of its request; 1.3 is
/// otherwise treated as 1.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageHeader {
    /// GIOP version of the message.
    pub version: Version,
    /// Byte order of the message.
    pub order: ByteOrder,
    /// Whether Fragment messages follow; never in GIOP 1.0.
    pub more_fragments: bool,
    /// The message type.
    pub kind: MessageKind,
    /// Octets after the header; of this fragment only if fragmented.
    pub size: u32,
}

impl MessageHeader {
    /// Reads the header of an unfragmented GIOP 1.2 request in native byte order, the common case
    /// at a server: one compare, after which everything but the size is a compile-time constant.
    /// `None` for any other message or invalid octets, which are left to [`MessageHeader::parse`].
    #[must_use]
    #[inline]
    pub fn plain_request(octets: &[u8; HEADER_LEN]) -> Option<Self> {
        const PLAIN: MessageHeader = MessageHeader::plain(MessageKind::Request);
        PLAIN.if_plain(octets, const { PLAIN.encode() })
    }

    /// The same for a reply.
    #[must_use]
    #[inline]
    pub fn plain_reply(octets: &[u8; HEADER_LEN]) -> Option<Self> {
        const PLAIN: MessageHeader = MessageHeader::plain(MessageKind::Reply);
        PLAIN.if_plain(octets, const { PLAIN.encode() })
    }

    /// The header of GIOP 1.2 in native byte order.
    const fn plain(kind: MessageKind) -> Self {
        Self {
            version: Version::V1_2,
            order: ByteOrder::NATIVE,
            more_fragments: false,
            kind,
            size: 0,
        }
    }

    /// This header with the size in the octets, if they are equal to its own otherwise.
    #[inline(always)]
    fn if_plain(self, octets: &[u8; HEADER_LEN], own: [u8; HEADER_LEN]) -> Option<Self> {
        let [a, b, c, d, e, f, g, h, s0, s1, s2, s3] = *octets;
        let [p, q, r, s, t, u, v, w, ..] = own;
        if u64::from_ne_bytes([a, b, c, d, e, f, g, h])
            != u64::from_ne_bytes([p, q, r, s, t, u, v, w])
        {
            return None;
        }
        let size = u32::from_ne_bytes([s0, s1, s2, s3]);
        Some(Self { size, ..self })
    }

    /// Reads a header. The caller checks the size against its limit.
    ///
    /// # Errors
    /// [`HeaderError`] if the octets are not a header.
    #[inline]
    pub const fn parse(octets: &[u8; HEADER_LEN]) -> Result<Self, HeaderError> {
        let [g, i, o, p, major, minor, flags, kind, s0, s1, s2, s3] = *octets;
        if u32::from_ne_bytes([g, i, o, p]) != u32::from_ne_bytes(MAGIC) {
            return Err(HeaderError::BadMagic([g, i, o, p]));
        }
        if major != 1 || minor > HIGHEST_MINOR {
            return Err(HeaderError::UnsupportedVersion(Version { major, minor }));
        }
        let Some(kind) = MessageKind::from_octet(kind) else {
            return Err(HeaderError::UnknownKind(kind));
        };
        if minor == 0 && matches!(kind, MessageKind::Fragment) {
            return Err(HeaderError::FragmentInGiop10);
        }
        let order = ByteOrder::from_flag(flags);
        let size = u32::from_ne_bytes([s0, s1, s2, s3]);
        Ok(Self {
            version: Version { major, minor },
            order,
            more_fragments: minor != 0 && flags & FLAG_MORE_FRAGMENTS != 0,
            kind,
            size: if order.is_foreign() {
                size.swap_bytes()
            } else {
                size
            },
        })
    }

    /// The twelve octets of this header.
    #[must_use]
    #[inline]
    pub const fn encode(&self) -> [u8; HEADER_LEN] {
        let [g, i, o, p] = MAGIC;
        let more = if self.more_fragments && self.version.minor != 0 {
            FLAG_MORE_FRAGMENTS
        } else {
            0
        };
        let size = if self.order.is_foreign() {
            self.size.swap_bytes()
        } else {
            self.size
        };
        let [s0, s1, s2, s3] = size.to_ne_bytes();
        let flags = self.order.flag() | more;
        let Version { major, minor } = self.version;
        [
            g,
            i,
            o,
            p,
            major,
            minor,
            flags,
            self.kind as u8,
            s0,
            s1,
            s2,
            s3,
        ]
    }

    /// The format of the message while no code sets are negotiated.
    #[must_use]
    #[inline]
    pub const fn format(&self) -> Format {
        let minor = match self.version.minor {
            HIGHEST_MINOR => 2,
            minor => minor,
        };
        Format::plain(self.order, minor)
    }

    /// A reader over the octets after the header, with the alignment of the message.
    #[must_use]
    #[inline]
    pub fn reader<'a>(&self, after_header: &'a mut [u8]) -> CdrReader<'a> {
        CdrReader::at(after_header, HEADER_LEN, self.format())
    }
}

/// Splits a whole message into its header and the rest.
///
/// # Panics
/// If the message is shorter than a header, an error of the caller.
#[must_use]
pub fn split_header(message: &mut [u8]) -> ([u8; HEADER_LEN], &mut [u8]) {
    let (head, rest) = message.split_at_mut(HEADER_LEN);
    let mut copy = [0; HEADER_LEN];
    copy.copy_from_slice(head);
    (copy, rest)
}

/// An unsigned long in the given order.
#[inline]
pub(crate) const fn u32_octets(value: u32, order: ByteOrder) -> [u8; 4] {
    match order {
        ByteOrder::Big => value.to_be_bytes(),
        ByteOrder::Little => value.to_le_bytes(),
    }
}

/// The unsigned long that four octets in the given order are.
#[inline]
pub(crate) const fn u32_from(octets: [u8; 4], order: ByteOrder) -> u32 {
    match order {
        ByteOrder::Big => u32::from_be_bytes(octets),
        ByteOrder::Little => u32::from_le_bytes(octets),
    }
}
