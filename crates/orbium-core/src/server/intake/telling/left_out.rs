// SPDX-License-Identifier: MIT OR Apache-2.0
//! Replies in a program without real time: there is no marker to answer to.

use orbium_cdr::CdrReader;

use crate::adapter::Incoming;
use crate::servant::Reply;

pub(super) fn serve_and_tell<'r>(
    incoming: &Incoming<'r>,
    arguments: CdrReader<'r>,
    reply: &mut Reply<'_>,
    _told: Option<[u8; 8]>,
) {
    incoming.serve_with(arguments, reply);
}
