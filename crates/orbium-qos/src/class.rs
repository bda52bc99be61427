// SPDX-License-Identifier: MIT OR Apache-2.0
//! Communication classes of RIOP.

/// Traffic class of calls (TAO's RIOP), which selects connections and sockets. Oneways of classes
/// other than ISOCHRONOUS go over datagrams only if the reference offers nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum CommunicationClass {
    /// Continuous media: datagrams first if the reference offers them, otherwise private
    /// connections; paced at [`Qos::bandwidth`](crate::Qos::bandwidth).
    Isochronous = 0,
    /// Bulk data at intervals: private connections with large buffers and a low mark.
    Burst = 1,
    /// Small requests that must not be delayed: connections not shared with other classes or
    /// priorities, without delay of small segments, with a high network mark.
    Message = 2,
    /// A stream of messages at a fixed rate: private connections; the server enforces the rate.
    MessageStream = 3,
}

impl CommunicationClass {
    /// All classes, by their numbers on the wire.
    pub const ALL: [Self; 4] = [
        Self::Isochronous,
        Self::Burst,
        Self::Message,
        Self::MessageStream,
    ];

    /// The name in TAO's papers.
    #[must_use]
    pub const fn name(self) -> &'static str {
        ["ISOCHRONOUS", "BURST", "MESSAGE", "MESSAGE_STREAM"][self as usize]
    }
}
