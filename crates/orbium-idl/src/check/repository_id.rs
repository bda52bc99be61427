// SPDX-License-Identifier: MIT OR Apache-2.0
//! Repository ids that are being determined.

use crate::model::DefId;
use crate::source::Span;

/// A module that was opened before under another prefix.
pub(super) struct Reopened {
    pub(super) module: DefId,
    pub(super) place: Span,
    /// The place of the first opening, which determines its id.
    pub(super) first: Span,
    pub(super) before: String,
    /// The id that it would have here.
    pub(super) here: String,
}

/// The origin of an entity's repository id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct IdState {
    /// Prefix and name, from which the default id is built.
    pub(super) body: String,
    pub(super) origin: Origin,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    Default,
    Version,
    Pragma,
    TypeId,
}
