// SPDX-License-Identifier: MIT OR Apache-2.0
//! Replies with the outcome of a dedication request as a service context. That happens
//! once per connection, so the reply is made as any other and the context inserted.

use std::time::Instant;

use orbium_cdr::{ByteOrder, CdrReader, CdrWriter, Format};
use orbium_giop::{add_reply_context, service_context};

use orbium_lane::Decided;
use orbium_lane::Lane;
use orbium_request::{AnswerPath, Dispatcher, IncomingRequest, ReplyPath, UntypedReply};

struct DedicationPath<'a> {
    path: &'a dyn ReplyPath,
    dedication: [u8; 8],
}

/// Serves a request; the reply gets the outcome of the `dedication` request, if there is one.
pub(super) fn serve_with_reply_context(
    dispatcher: &dyn Dispatcher,
    incoming: &IncomingRequest<'_>,
    arguments: &mut CdrReader<'_>,
    reply: &mut UntypedReply<'_>,
    dedication: Option<[u8; 8]>,
) {
    match dedication {
        None => dispatcher.serve(incoming, arguments, reply),
        Some(dedication) => serve_with_context(dispatcher, incoming, arguments, reply, dedication),
    }
}

#[cold]
fn serve_with_context(
    dispatcher: &dyn Dispatcher,
    incoming: &IncomingRequest<'_>,
    arguments: &mut CdrReader<'_>,
    reply: &mut UntypedReply<'_>,
    dedication: [u8; 8],
) {
    let path = DedicationPath {
        path: reply.path(),
        dedication,
    };
    reply.on_path(&path, |reply| {
        dispatcher.serve(incoming, arguments, reply);
    });
}

/// The reply with the context; `None` if it cannot be inserted.
fn with_dedication(message: &CdrWriter<'_>, dedication: [u8; 8]) -> Option<CdrWriter<'static>> {
    let mut octets = Vec::with_capacity(message.len() + 16);
    for piece in message.pieces() {
        octets.extend_from_slice(piece);
    }
    let added = add_reply_context(&mut octets, service_context::ORBIUM_DEDICATION, &dedication);
    added.then(|| {
        let mut writer = CdrWriter::new(Format::plain(ByteOrder::NATIVE, message.format().minor));
        writer.write_raw(&octets);
        writer
    })
}

impl ReplyPath for DedicationPath<'_> {
    fn send(&self, message: &CdrWriter<'_>) {
        let extended = with_dedication(message, self.dedication);
        self.path.send(extended.as_ref().unwrap_or(message));
    }

    // The outcome of the dedication is lost; the client repeats the request or continues without.
    fn late(&self) -> Option<Box<dyn AnswerPath>> {
        self.path.late()
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
