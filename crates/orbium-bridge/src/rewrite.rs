// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rewriting of references to a server into references to the bridge.

use orbium_cdr::{ByteOrder, CdrWriter, Decode, Encode, Format};
use orbium_channel::Channel;
use orbium_channel::protocol::{self, Offer};
use orbium_giop::{
    HEADER_LEN, Ior, LocateReplyHeader, LocateStatus, MessageHeader, MessageKind, ReplyHeader,
    ReplyStatus, ServiceContext, begin_locate_reply, begin_reply, finish_message,
};

use crate::shared::Shared;

/// The reference with the profiles that lead to `from` replaced by ones that lead to `to`. Profiles
/// with other addresses are omitted, since clients of the bridge cannot reach them; unknown
/// profiles are kept.
pub(crate) fn rewrite(ior: &Ior, from: &Channel, to: &[Channel]) -> Ior {
    let offers = protocol::offers(ior);
    let Some(offer) = offers.iter().find(|offer| offer.channel == *from) else {
        return ior.clone();
    };
    let Offer {
        version,
        object_key,
        components,
        ..
    } = &**offer;
    let mut profiles = protocol::profiles_with(to, object_key, version.minor, components);
    profiles.extend(protocol::not_understood(ior).cloned());
    Ior {
        type_id: ior.type_id.clone(),
        profiles,
    }
}

/// A Reply or LocateReply that forwards to an object of the server, rewritten; `None`
/// for all other messages.
pub(crate) fn forward(
    header: &MessageHeader,
    message: &mut [u8],
    shared: &Shared,
) -> Option<Vec<u8>> {
    match header.kind {
        _ if header.more_fragments => None,
        MessageKind::Reply => forward_of_reply(header, message, shared),
        MessageKind::LocateReply => forward_of_locate_reply(header, message, shared),
        _ => None,
    }
}

fn forward_of_locate_reply(
    header: &MessageHeader,
    message: &mut [u8],
    shared: &Shared,
) -> Option<Vec<u8>> {
    let mut reader = header.reader(&mut message[HEADER_LEN..]);
    let reply = LocateReplyHeader::read(&mut reader, header.format().minor).ok()?;
    match reply.status {
        LocateStatus::ObjectForward | LocateStatus::ObjectForwardPerm => {}
        _ => return None,
    }
    let rewritten = rewritten(&Ior::decode(&mut reader).ok()?, shared)?;
    let mut writer = CdrWriter::new(Format::plain(ByteOrder::NATIVE, header.format().minor));
    let start = begin_locate_reply(&mut writer, header.version, reply.request_id, reply.status);
    rewritten.encode(&mut writer);
    finish_message(&mut writer, start);
    writer.finish().ok()
}

/// `None` if no profile of the reference leads to the server.
fn rewritten(ior: &Ior, shared: &Shared) -> Option<Ior> {
    let rewritten = rewrite(ior, &shared.to, &shared.listens);
    (rewritten != *ior).then_some(rewritten)
}

fn forward_of_reply(
    header: &MessageHeader,
    message: &mut [u8],
    shared: &Shared,
) -> Option<Vec<u8>> {
    let mut reader = header.reader(&mut message[HEADER_LEN..]);
    let reply = ReplyHeader::read(&mut reader, header.format().minor).ok()?;
    match reply.status {
        ReplyStatus::LocationForward | ReplyStatus::LocationForwardPerm => {}
        _ => return None,
    }
    let rewritten = rewritten(&Ior::decode(&mut reader).ok()?, shared)?;
    let contexts: Vec<ServiceContext<'_>> = reply.contexts.iter().collect();
    let mut writer = CdrWriter::new(Format::plain(ByteOrder::NATIVE, header.format().minor));
    let start = begin_reply(
        &mut writer,
        header.version,
        reply.request_id,
        reply.status,
        &contexts,
    );
    rewritten.encode(&mut writer);
    finish_message(&mut writer, start);
    writer.finish().ok()
}
