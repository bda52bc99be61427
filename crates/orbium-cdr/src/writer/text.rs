// SPDX-License-Identifier: MIT OR Apache-2.0
//! Texts in one piece.

use super::CdrWriter;

impl CdrWriter<'_> {
    /// Writes octets with their count and a terminator, in one piece.
    #[inline]
    pub(crate) fn write_terminated(&mut self, octets: &[u8]) {
        let count = octets.len() as u32 + 1;
        let count = if self.swap { count.swap_bytes() } else { count };
        let room = self.claim(4, octets.len() + 5);
        let (before, rest) = room.split_at_mut(4);
        before.copy_from_slice(&count.to_ne_bytes());
        let (text, terminator) = rest.split_at_mut(octets.len());
        text.copy_from_slice(octets);
        terminator.fill(0);
    }
}
