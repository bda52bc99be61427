// SPDX-License-Identifier: MIT OR Apache-2.0
//! Decoding parameters for the results in replies.

use orbium_cdr::{CdrReader, Owner};

/// Parameters of the ORB for a reader of results.
#[derive(Clone)]
pub struct Decoding {
    /// Binds references in messages to the ORB.
    pub owner: Owner,
    /// Maximum nesting of values.
    pub nesting: u16,
}

impl Decoding {
    /// Applies the parameters to a reader.
    #[inline]
    pub fn apply<'r>(&'r self, reader: &mut CdrReader<'r>) {
        reader.set_owner(Some(&self.owner));
        reader.set_nesting(self.nesting);
    }
}
