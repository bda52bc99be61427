// SPDX-License-Identifier: MIT OR Apache-2.0
//! Repository ids under way.

use crate::model::DefId;
use crate::source::Span;

/// A module that was opened before under another prefix.
pub(super) struct Reopened {
    pub(super) module: DefId,
    pub(super) place: Span,
    /// Where it was first opened, and the id it has from there.
    pub(super) first: Span,
    pub(super) before: String,
    /// The id it would have here.
    pub(super) here: String,
}

/// How an entity came by its repository id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct IdState {
    /// Prefix and name, from which the default id is made.
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
