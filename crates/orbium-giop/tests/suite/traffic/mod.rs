// SPDX-License-Identifier: MIT OR Apache-2.0
//! GIOP messages of all kinds, and the two ends of a connection.

use orbium_cdr::{ByteOrder, CdrWriter, Format};
use orbium_giop::messaging::{Message, Messaging, MessagingError, Session, Side};
use orbium_giop::{
    CancelRequest, LocateStatus, MessageHeader, MessageKind, ReplyStatus, RequestTemplate,
    ResponseFlags, ServiceContext, Target, Version, begin_locate_reply, begin_reply,
    finish_message, write_locate_request,
};
use proptest::collection::vec;
use proptest::prelude::*;

/// More than any of these messages has.
pub(crate) const LIMIT: usize = 1 << 16;

/// What is the same in messages of all kinds.
#[derive(Clone, Copy, Debug)]
struct Form {
    order: ByteOrder,
    version: Version,
    id: u32,
}

impl Form {
    fn writer<'a>(self) -> CdrWriter<'a> {
        CdrWriter::new(Format::plain(self.order, self.version.minor.min(2)))
    }
}

fn forms() -> impl Strategy<Value = Form> {
    let orders = prop_oneof![Just(ByteOrder::Big), Just(ByteOrder::Little)];
    let minors = prop_oneof![4 => Just(2_u8), 1 => 0_u8..4];
    let ids = prop_oneof![0..300_u32, any::<u32>()];
    (orders, minors, ids).prop_map(|(order, minor, id)| Form {
        order,
        version: Version { major: 1, minor },
        id,
    })
}

fn contexts() -> impl Strategy<Value = Vec<(u32, Vec<u8>)>> {
    let some = vec((any::<u32>(), vec(any::<u8>(), 0..20)), 1..4);
    prop_oneof![2 => Just(Vec::new()), 1 => some]
}

fn listed(contexts: &[(u32, Vec<u8>)]) -> Vec<ServiceContext<'_>> {
    contexts
        .iter()
        .map(|(id, data)| ServiceContext { id: *id, data })
        .collect()
}

fn bodies() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        vec(any::<u8>(), 0..10),
        vec(any::<u8>(), 0..600),
        (any::<u8>(), 0..5000_usize).prop_map(|(octet, len)| vec![octet; len]),
    ]
}

fn keys() -> impl Strategy<Value = Vec<u8>> {
    // A few that come again, as in real traffic.
    prop_oneof![
        3 => (0..6_u8).prop_map(|n| vec![n; usize::from(n) * 3]),
        1 => vec(any::<u8>(), 0..40),
    ]
}

fn operations() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => prop::sample::select(vec!["", "op", "_is_a", "set_value", "a_rather_long_name"])
            .prop_map(str::to_owned),
        1 => "[a-z_]{0,50}",
    ]
}

fn requests() -> impl Strategy<Value = Vec<u8>> {
    let flags = prop::sample::select(vec![
        ResponseFlags::None,
        ResponseFlags::SyncWithServer,
        ResponseFlags::Full,
    ]);
    (forms(), flags, keys(), operations(), contexts(), bodies()).prop_map(
        |(form, flags, key, operation, contexts, body)| {
            let template = RequestTemplate::in_order(form.order, form.version, &key);
            let mut writer = form.writer();
            let contexts = listed(&contexts);
            let start = template.begin(&mut writer, form.id, flags, &operation, &contexts);
            writer.write_raw(&body);
            finish_message(&mut writer, start);
            writer.finish().expect("a request")
        },
    )
}

fn replies() -> impl Strategy<Value = Vec<u8>> {
    let status = prop::sample::select(vec![
        ReplyStatus::NoException,
        ReplyStatus::UserException,
        ReplyStatus::SystemException,
        ReplyStatus::LocationForward,
    ]);
    (forms(), status, contexts(), bodies()).prop_map(|(form, status, contexts, body)| {
        let mut writer = form.writer();
        let contexts = listed(&contexts);
        let start = begin_reply(&mut writer, form.version, form.id, status, &contexts);
        writer.write_raw(&body);
        finish_message(&mut writer, start);
        writer.finish().expect("a reply")
    })
}

fn locates() -> impl Strategy<Value = Vec<u8>> {
    (forms(), keys(), any::<bool>()).prop_map(|(form, key, asks)| {
        let mut writer = form.writer();
        let target = Target::Key(&key);
        if asks {
            write_locate_request(&mut writer, form.version, form.id, &target);
        } else {
            let here = LocateStatus::ObjectHere;
            let start = begin_locate_reply(&mut writer, form.version, form.id, here);
            finish_message(&mut writer, start);
        }
        writer.finish().expect("a locate message")
    })
}

fn cancels() -> impl Strategy<Value = Vec<u8>> {
    forms().prop_map(|form| {
        let cancel = CancelRequest {
            request_id: form.id,
        };
        cancel.message(form.version, form.order).to_vec()
    })
}

/// Any header with any octets behind it.
fn others() -> impl Strategy<Value = Vec<u8>> {
    (forms(), 0..8_u8, any::<bool>(), vec(any::<u8>(), 0..80)).prop_map(
        |(form, kind, more, body)| {
            let kind = MessageKind::from_octet(kind).expect("one of eight");
            let header = MessageHeader {
                version: Version {
                    minor: form
                        .version
                        .minor
                        .max(u8::from(kind == MessageKind::Fragment)),
                    ..form.version
                },
                order: form.order,
                more_fragments: more,
                kind,
                size: body.len() as u32,
            };
            [&header.encode()[..], &body].concat()
        },
    )
}

/// A request or reply with one octet changed behind its message header.
fn changed() -> impl Strategy<Value = Vec<u8>> {
    let plain = prop_oneof![requests(), replies()];
    (plain, any::<prop::sample::Index>(), any::<u8>()).prop_map(|(mut message, at, octet)| {
        if message.len() > 12 {
            let at = 12 + at.index((message.len() - 12).min(80));
            message[at] = octet;
        }
        message
    })
}

/// GIOP messages of all kinds.
pub(crate) fn messages() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        5 => requests(),
        4 => replies(),
        2 => changed(),
        1 => locates(),
        1 => cancels(),
        1 => others(),
    ]
}

/// Where a message or a stream is cut.
pub(crate) fn cuts() -> impl Strategy<Value = Vec<prop::sample::Index>> {
    vec(any::<prop::sample::Index>(), 0..6)
}

/// The octets in pieces.
pub(crate) fn cut<'a>(octets: &'a [u8], cuts: &[prop::sample::Index]) -> Vec<&'a [u8]> {
    let mut at: Vec<_> = cuts.iter().map(|cut| cut.index(octets.len() + 1)).collect();
    at.sort_unstable();
    at.push(octets.len());
    let mut start = 0;
    at.into_iter()
        .map(|end| {
            let piece = &octets[start..end];
            start = end;
            piece
        })
        .collect()
}

/// The frame of a message in pieces.
pub(crate) fn encode(session: &mut Session, pieces: &[&[u8]]) -> Result<Vec<u8>, MessagingError> {
    let (mut head, mut tail) = (Vec::new(), Vec::new());
    let message = Message::new(pieces);
    let range = session.encoder.encode(message, &mut head, &mut tail)?;
    let body: Vec<_> = message.slices(range).collect();
    Ok([&head[..], &body.concat(), &tail].concat())
}

/// What the receiver of these octets makes of them.
pub(crate) struct Receiver<'s> {
    pub(crate) session: &'s mut Session,
    pub(crate) buffer: Vec<u8>,
    pub(crate) messages: Vec<Vec<u8>>,
}

impl<'s> Receiver<'s> {
    pub(crate) fn new(session: &'s mut Session) -> Self {
        Self {
            session,
            buffer: Vec::new(),
            messages: Vec::new(),
        }
    }

    pub(crate) fn receive(&mut self, octets: &[u8]) -> Result<(), MessagingError> {
        self.buffer.extend_from_slice(octets);
        while let Some(len) = self.session.decoder.frame_len(&self.buffer)? {
            assert!(len > 0, "a frame of nothing would never end");
            if len > self.buffer.len() {
                break;
            }
            let frame: Vec<u8> = self.buffer.drain(..len).collect();
            let mut message = Vec::new();
            self.session.decoder.decode(&frame, &mut message)?;
            if !message.is_empty() {
                self.messages.push(message);
            }
        }
        Ok(())
    }
}

/// Two ends of a connection.
pub(crate) fn ends(layer: &dyn Messaging) -> (Session, Session) {
    (
        layer.session(Side::Client, LIMIT),
        layer.session(Side::Server, LIMIT),
    )
}
