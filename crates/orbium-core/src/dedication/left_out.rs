// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connections with a thread of their own in a program without real time: there are
//! none.

#[derive(Default)]
pub(crate) struct Dedications {}

impl Dedications {
    pub(crate) fn are_decided(&self) -> bool {
        false
    }
}
