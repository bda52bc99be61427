// SPDX-License-Identifier: MIT OR Apache-2.0
//! Data that a peer has not received yet.

/// Queued data for a peer, in order.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    octets: Vec<u8>,
    /// The number of bytes already sent.
    gone: usize,
}

impl Kept {
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of unsent bytes.
    pub(crate) fn len(&self) -> usize {
        self.octets.len() - self.gone
    }

    /// The unsent bytes.
    pub(crate) fn octets(&self) -> &[u8] {
        &self.octets[self.gone..]
    }

    /// Appends data.
    pub(crate) fn append(&mut self, mut octets: Vec<u8>) {
        if self.is_empty() {
            *self = Self { octets, gone: 0 }
        } else {
            self.octets.append(&mut octets);
        }
    }

    /// Removes sent bytes. The remaining ones are moved once they are fewer than the sent ones, so
    /// that each byte is moved at most once per sent byte.
    pub(crate) fn consume(&mut self, count: usize) {
        self.gone += count;
        if self.gone >= self.len() {
            self.octets.drain(..self.gone);
            self.gone = 0;
        }
    }

    /// Removes and returns all data.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        let Self { mut octets, gone } = std::mem::take(self);
        octets.drain(..gone);
        octets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn octets_come_out_in_order_however_they_are_consumed() {
        let mut kept = Kept::default();
        let (mut next, mut out) = (0_u8, Vec::new());
        for round in 1..40_usize {
            let more: Vec<u8> = (0..round).map(|by| next.wrapping_add(by as u8)).collect();
            next = next.wrapping_add(round as u8);
            kept.append(more);
            let count = kept.len() / 3;
            out.extend_from_slice(&kept.octets()[..count]);
            kept.consume(count);
        }
        out.extend(kept.take());
        assert!(kept.is_empty());
        let expected: Vec<u8> = (0..out.len()).map(|at| at as u8).collect();
        assert_eq!(out, expected);
        assert_eq!(out.len(), (1..40).sum());
    }

    /// Otherwise all remaining data would be moved for each sent piece: 8 TiB for a reply of 256
    /// MiB here.
    #[test]
    fn a_large_reply_that_is_taken_in_small_pieces_is_not_moved_each_time() {
        const PIECE: usize = 4096;
        let mut kept = Kept::default();
        kept.append(vec![0; 256 << 20]);
        while !kept.is_empty() {
            kept.consume(PIECE);
        }
    }
}
