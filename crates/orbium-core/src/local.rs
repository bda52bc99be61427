// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls to objects of the same ORB by messages, without sockets.

use orbium_cdr::Format;
use orbium_giop::codeset::Negotiated;
use orbium_giop::{HEADER_LEN, MessageHeader, RequestHeader, SystemException};

use orbium_sync::role::while_serving_own_thread;

use crate::Orb;
use crate::client::LocalReply;
use crate::client::received_reply::ReceivedReply;
use orbium_invocation::Expiry;
use orbium_invocation::call_exceptions::broken_invariant;
use orbium_lane::OWN;
use orbium_request::{Dispatcher, IncomingRequest, Kept, UntypedReply};

/// Serves a request message and returns the reply, if one is expected.
pub(crate) fn perform(
    orb: &Orb,
    mut message: Vec<u8>,
    negotiated: Negotiated,
) -> Result<Option<LocalReply>, SystemException> {
    let Some((header, body)) = message.split_first_chunk_mut::<HEADER_LEN>() else {
        return Err(broken_invariant());
    };
    let Ok(header) = MessageHeader::parse(header) else {
        return Err(broken_invariant());
    };
    let mut reader = header.reader(body).with_owner(Some(orb.owner()));
    let Ok(request) = RequestHeader::read(&mut reader, header.version.minor) else {
        return Err(broken_invariant());
    };
    let format = Format {
        char_set: negotiated.char_set,
        wide_set: negotiated.wide_set,
        ..header.format()
    };
    reader.set_format(format);
    let Some(key) = request.target.object_key() else {
        return Err(broken_invariant());
    };
    let kept = Kept::default();
    let incoming = IncomingRequest {
        context: &orb.core().serving,
        key: &key,
        operation: request.operation,
        contexts: request.contexts,
        peer: None,
        response: request.response,
        expiry: Expiry::of(&request.contexts, None)?,
        lane: OWN,
        decided: None,
    };
    let mut storage = Vec::new();
    let mut reply = UntypedReply::new(
        &kept,
        &mut storage,
        header.version,
        request.request_id,
        format,
        request.response,
    );
    while_serving_own_thread(orb.number(), || {
        orb.core().serve(&incoming, &mut reader, &mut reply);
    });
    if !request.response.expects_reply() {
        return Ok(None);
    }
    let reply = kept.into_message(incoming.expiry.deadline())?;
    let reply = ReceivedReply::in_process(reply, format).ok_or_else(broken_invariant)?;
    Ok(Some((reply.header, reply.body, reply.status, reply.octets)))
}
