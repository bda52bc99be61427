// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names of the objects of a service: their object ids with persistent connections.

/// Kind of an object. The order is that of restoration: each kind after those that it refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Factory,
    FilterFactory,
    Filter,
    Channel,
    ConsumerAdmin,
    SupplierAdmin,
    /// The proxy supplier of a consumer.
    Consumer,
    /// The proxy consumer of a supplier.
    Supplier,
}

/// Maximum number in a record.
const MAX_NUMBER: i32 = 1 << 30;

const KINDS: [Kind; 8] = [
    Kind::Factory,
    Kind::FilterFactory,
    Kind::Filter,
    Kind::Channel,
    Kind::ConsumerAdmin,
    Kind::SupplierAdmin,
    Kind::Consumer,
    Kind::Supplier,
];

/// An object: its kind, its channel (0 without one), and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) kind: Kind,
    pub(crate) channel: i32,
    pub(crate) id: i32,
}

impl Key {
    pub(crate) const SIZE: usize = 9;
    pub(crate) const FACTORY: Self = Self::new(Kind::Factory, 0, 0);
    pub(crate) const FILTER_FACTORY: Self = Self::new(Kind::FilterFactory, 0, 0);

    pub(crate) const fn new(kind: Kind, channel: i32, id: i32) -> Self {
        Self { kind, channel, id }
    }

    pub(crate) fn to_bytes(self) -> [u8; Self::SIZE] {
        let mut bytes = [self.kind as u8; Self::SIZE];
        bytes[1..5].copy_from_slice(&self.channel.to_be_bytes());
        bytes[5..].copy_from_slice(&self.id.to_be_bytes());
        bytes
    }

    /// `None`: the bytes are not a valid key.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; Self::SIZE] = bytes.try_into().ok()?;
        let [kind, c0, c1, c2, c3, i0, i1, i2, i3] = *bytes;
        Some(Self {
            kind: *KINDS.get(usize::from(kind))?,
            channel: i32::from_be_bytes([c0, c1, c2, c3]),
            id: i32::from_be_bytes([i0, i1, i2, i3]),
        })
    }
}

/// The last number of a record.
///
/// # Errors
/// Too few numbers remain.
pub(crate) fn number(last: i32) -> Result<i32, String> {
    if (0..=MAX_NUMBER).contains(&last) {
        Ok(last)
    } else {
        Err(format!("{last} is no number of an object"))
    }
}
