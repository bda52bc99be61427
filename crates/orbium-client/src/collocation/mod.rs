// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls within the ORB, and the circumstances of calls without a message.

mod collocated;
pub(crate) mod detour;
pub(crate) mod local_orb;
pub(crate) mod own_object;
pub(crate) mod terms;
