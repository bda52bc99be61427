// SPDX-License-Identifier: MIT OR Apache-2.0
//! Replies that tell a client what became of its marker. Once for a connection,
//! so the reply is made as any other and the context put into it.

use std::time::Instant;

use orbium_cdr::{ByteOrder, CdrReader, CdrWriter, Format};
use orbium_giop::{add_reply_context, service_context};

use crate::Lane;
use crate::adapter::Incoming;
use crate::lane::Decided;
use crate::servant::{ReplyPath, UntypedReply};

struct Telling<'a> {
    path: &'a dyn ReplyPath,
    told: [u8; 8],
}

/// Serves a request; with the answer its client is `told` what became of its
/// marker, if it has one.
pub(super) fn serve_and_tell<'r>(
    incoming: &Incoming<'r>,
    arguments: CdrReader<'r>,
    reply: &mut UntypedReply<'_>,
    told: Option<[u8; 8]>,
) {
    match told {
        None => incoming.serve_with(arguments, reply),
        Some(told) => tell(incoming, arguments, reply, told),
    }
}

#[cold]
fn tell<'r>(
    incoming: &Incoming<'r>,
    arguments: CdrReader<'r>,
    reply: &mut UntypedReply<'_>,
    told: [u8; 8],
) {
    let path = Telling {
        path: reply.path,
        told,
    };
    let mut inner = UntypedReply {
        forwarded: false,
        path: &path,
        storage: &mut *reply.storage,
        version: reply.version,
        request_id: reply.request_id,
        format: reply.format,
        response: reply.response,
        answered: reply.answered,
        raised: false,
        moved: false,
    };
    incoming.serve_with(arguments, &mut inner);
    reply.answered = inner.answered;
    reply.raised = inner.raised;
    reply.moved = inner.moved;
    reply.forwarded = inner.forwarded;
}

/// The reply with the context; `None` if there is no way to put it in.
fn with_dedication(message: &CdrWriter<'_>, told: [u8; 8]) -> Option<CdrWriter<'static>> {
    let mut octets = Vec::with_capacity(message.len() + 16);
    for piece in message.pieces() {
        octets.extend_from_slice(piece);
    }
    let added = add_reply_context(&mut octets, service_context::ORBIUM_DEDICATION, &told);
    added.then(|| {
        let mut writer = CdrWriter::new(Format::plain(ByteOrder::NATIVE, message.format().minor));
        writer.write_raw(&octets);
        writer
    })
}

impl ReplyPath for Telling<'_> {
    fn send(&self, message: &CdrWriter<'_>) {
        let told = with_dedication(message, self.told);
        self.path.send(told.as_ref().unwrap_or(message));
    }

    fn arrived(&self) -> Option<Instant> {
        self.path.arrived()
    }

    fn dedicated(&self) {
        self.path.dedicated();
    }

    fn move_to(&self, lane: &Lane, decided: Decided) -> bool {
        self.path.move_to(lane, decided)
    }
}
