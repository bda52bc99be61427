// SPDX-License-Identifier: MIT OR Apache-2.0
//! Encoding parameters on which both ends agree before a byte can be read: byte order, GIOP
//! version and code sets.

/// Byte order of a message or an encapsulation (bit 0 of the GIOP flags octet).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    /// Most significant octet first; flag value 0.
    Big,
    /// Least significant octet first; flag value 1.
    Little,
}

impl ByteOrder {
    /// The order of this machine, in which orbium always sends.
    pub const NATIVE: Self = if cfg!(target_endian = "little") {
        Self::Little
    } else {
        Self::Big
    };

    /// The order named by the low bit of a flags octet.
    #[must_use]
    pub const fn from_flag(flags: u8) -> Self {
        if flags & 1 == 0 {
            Self::Big
        } else {
            Self::Little
        }
    }

    /// The flag bit that names this order.
    #[must_use]
    pub const fn flag(self) -> u8 {
        matches!(self, Self::Little) as u8
    }

    /// Whether values in this order must be swapped.
    #[must_use]
    #[inline]
    pub const fn is_foreign(self) -> bool {
        self.flag() != Self::NATIVE.flag()
    }
}

/// Transmission code set for `char` and `string` (TCS-C).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CharSet {
    /// ISO 8859-1, the default until a code set has been negotiated.
    Latin1,
    /// UTF-8. A `char` is ASCII: an octet beyond it is not UTF-8.
    Utf8,
    /// UTF-8 for `string`, ISO 8859-1 for `char`: negotiated between two orbium ORBs, so that
    /// neither text nor single octets are lost.
    Utf8AndLatin1Char,
}

impl CharSet {
    /// Whether strings are UTF-8.
    #[must_use]
    #[inline]
    pub const fn is_utf8(self) -> bool {
        !matches!(self, Self::Latin1)
    }
}

/// Transmission code set for `wchar` and `wstring` (TCS-W).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WideSet {
    /// UTF-16; byte order according to clause 9.3.1.6 for each GIOP version.
    Utf16,
}

/// Format of values in a message: byte order, GIOP minor version and the negotiated code
/// sets. Settled once per message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Byte order of the stream.
    pub order: ByteOrder,
    /// GIOP 1.*minor*, which affects only wide characters; or [`NATURAL`](Self::NATURAL).
    pub minor: u8,
    /// Code set of `char` and `string`.
    pub char_set: CharSet,
    /// Code set of `wchar` and `wstring`; `None` while none was negotiated.
    pub wide_set: Option<WideSet>,
}

impl Format {
    /// The format in which orbium stores values internally: native order, GIOP 1.2, UTF-8 and
    /// UTF-16.
    #[must_use]
    pub const fn native() -> Self {
        Self {
            order: ByteOrder::NATIVE,
            minor: 2,
            char_set: CharSet::Utf8,
            wide_set: Some(WideSet::Utf16),
        }
    }

    /// A format without negotiation: ISO 8859-1 and no wide text.
    #[must_use]
    pub const fn plain(order: ByteOrder, minor: u8) -> Self {
        Self {
            order,
            minor,
            char_set: CharSet::Latin1,
            wide_set: None,
        }
    }

    /// The minor version that represents the `native` data representation of GIOP 1.2, in native
    /// byte order: the elements of sequences of fixed-size structs have the stride that they have
    /// in memory, which may exceed that of CDR. It applies to structs of which every bit pattern is
    /// a value; padding is zero. All else is as in CDR, including the contents of an `any`. No GIOP
    /// message has this version.
    pub const NATURAL: u8 = 0x82;

    /// Whether elements have their stride in memory: see [`NATURAL`](Self::NATURAL).
    #[must_use]
    #[inline]
    pub const fn is_natural(&self) -> bool {
        self.minor == Self::NATURAL
    }

    /// The same format with elements at their stride in memory, or as in CDR.
    #[must_use]
    pub const fn with_natural_elements(self, natural: bool) -> Self {
        let minor = if natural {
            Self::NATURAL
        } else if self.is_natural() {
            2
        } else {
            self.minor
        };
        Self { minor, ..self }
    }

    /// The same format in another byte order.
    #[must_use]
    pub const fn with_order(self, order: ByteOrder) -> Self {
        Self { order, ..self }
    }
}
