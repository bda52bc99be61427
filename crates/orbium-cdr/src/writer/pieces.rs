// SPDX-License-Identifier: MIT OR Apache-2.0
//! The pieces of a message with gathered slices.

use super::CdrWriter;

/// A piece of a finished message, in order.
pub type Piece<'p> = &'p [u8];

impl<'a> CdrWriter<'a> {
    /// The pieces of the message in order, without empty ones.
    #[inline]
    pub fn pieces(&self) -> Pieces<'_, 'a> {
        Pieces {
            writer: self,
            next: 0,
            from: 0,
            slice: false,
        }
    }
}

/// Iterator over the pieces of a message; see [`CdrWriter::pieces`].
#[derive(Debug)]
pub struct Pieces<'w, 'a> {
    writer: &'w CdrWriter<'a>,
    next: usize,
    from: usize,
    slice: bool,
}

impl<'w> Iterator for Pieces<'w, '_> {
    type Item = Piece<'w>;

    #[inline]
    fn next(&mut self) -> Option<Piece<'w>> {
        let writer = self.writer;
        loop {
            if self.slice {
                self.slice = false;
                self.next += 1;
                return Some(writer.gathered[self.next - 1].1);
            }
            let gathered = self.next < writer.gathered_count;
            let to = if gathered {
                writer.gathered[self.next].0
            } else {
                writer.at
            };
            if !gathered && self.from == to {
                return None;
            }
            let piece = &writer.storage[self.from..to];
            self.from = to;
            self.slice = gathered;
            if !piece.is_empty() {
                return Some(piece);
            }
        }
    }
}
