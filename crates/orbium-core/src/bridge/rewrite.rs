// SPDX-License-Identifier: MIT OR Apache-2.0
//! References that lead to a server, made to lead to the bridge.

use orbium_cdr::{ByteOrder, CdrWriter, Decode, Encode, Format};
use orbium_giop::{
    HEADER_LEN, Ior, MessageHeader, MessageKind, ReplyHeader, ReplyStatus, ServiceContext,
    begin_reply, finish_message,
};

use super::Shared;
use crate::Channel;
use crate::protocol::{self, Offer};

/// The reference with the profiles that lead to `from` replaced by ones that
/// lead to `to`. Profiles that lead elsewhere are left out, since whoever comes
/// over a bridge cannot go there; those not understood are kept.
pub(super) fn rewrite(ior: &Ior, from: &Channel, to: &[Channel]) -> Ior {
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

/// A reply that forwards to an object of the server, rewritten; `None` for all
/// other messages.
pub(super) fn forward(
    header: &MessageHeader,
    message: &mut [u8],
    shared: &Shared,
) -> Option<Vec<u8>> {
    if header.kind != MessageKind::Reply || header.more_fragments {
        return None;
    }
    let mut reader = header.reader(&mut message[HEADER_LEN..]);
    let reply = ReplyHeader::read(&mut reader, header.format().minor).ok()?;
    match reply.status {
        ReplyStatus::LocationForward | ReplyStatus::LocationForwardPerm => {}
        _ => return None,
    }
    let ior = Ior::decode(&mut reader).ok()?;
    let rewritten = rewrite(&ior, &shared.to, &shared.listens);
    if rewritten == ior {
        return None;
    }
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
