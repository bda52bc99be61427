// SPDX-License-Identifier: MIT OR Apache-2.0
//! Visibility of an attempt on the plain path to interceptors.

/// What interceptors see of an attempt on the plain path. It is a number because an attempt begins
/// next to other zeros, which are stored at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen(u32);

impl Seen {
    /// Nothing.
    pub(super) const NOTHING: Self = Self(0);

    /// How it ends, if it ends without results.
    pub(super) const END: Self = Self(1);

    /// Set together with the id of a request.
    const WHOLE: u32 = 1 << 31;

    /// All of it: they have passed the starting point of the request with that id.
    pub(super) const fn whole(id: u32) -> Self {
        Self(id | Self::WHOLE)
    }

    /// The id of the request, if they see all of it.
    pub(super) fn id(self) -> Option<u32> {
        (self.0 & Self::WHOLE != 0).then_some(self.0 & !Self::WHOLE)
    }
}
