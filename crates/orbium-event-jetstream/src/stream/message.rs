// SPDX-License-Identifier: MIT OR Apache-2.0
//! Events as messages of the stream: `orb.ev.STREAM.t<type>.s<source>`, the event as an
//! encapsulation, and headers.

use std::fmt;

use async_nats::{HeaderMap, HeaderValue};
use orbium::cdr::{ByteOrder, CdrError, CdrReader, CdrWriter, Decode, Encode, Format};
use orbium_event::rtec::rtec_event_comm::Event;
use orbium_notification::idl::cos_notification::StructuredEvent;

/// The version of the message format.
const VERSION: &str = "1";
/// The header with the version.
pub(crate) const VERSION_HEADER: &str = "Orb-Ver";
/// The header by which the stream detects duplicates.
pub(crate) const ID_HEADER: &str = "Nats-Msg-Id";
/// The field of a structured event's variable header with the id that its supplier has set.
pub(crate) const EVENT_ID: &str = "EventId";
/// The header with the kind of event.
pub(crate) const KIND_HEADER: &str = "Orb-Kind";

/// A kind of stored events.
pub(crate) trait Stored: Decode + Encode {
    /// The value of the header for this kind.
    const KIND: &'static str;
}

impl Stored for Event {
    const KIND: &'static str = "rt";
}

impl Stored for StructuredEvent {
    const KIND: &'static str = "se";
}

/// A message to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) subject: String,
    /// The id by which the stream detects duplicates.
    pub(crate) id: String,
    pub(crate) kind: &'static str,
    pub(crate) payload: Vec<u8>,
}

/// The reason why a message of the stream is not a valid event.
#[derive(Debug)]
pub(crate) enum MessageError {
    Empty,
    Version,
    Kind,
    Cdr(CdrError),
    /// So many bytes follow the event.
    Trailing(usize),
}

impl fmt::Display for MessageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("it is empty"),
            Self::Version => f.write_str("its form is not known"),
            Self::Kind => f.write_str("it is of another kind"),
            Self::Cdr(error) => error.fmt(f),
            Self::Trailing(count) => write!(f, "{count} bytes follow the event"),
        }
    }
}

impl From<CdrError> for MessageError {
    fn from(error: CdrError) -> Self {
        Self::Cdr(error)
    }
}

/// The prefix of all subjects of a stream.
pub(crate) fn subject_prefix(stream: &str) -> String {
    format!("orb.ev.{stream}.")
}

/// All subjects of a stream.
pub(crate) fn subjects(stream: &str) -> String {
    subject_prefix(stream) + ">"
}

/// The kind of events that a header names.
pub(crate) fn kind_of(name: &str) -> Option<&'static str> {
    let kinds = [Event::KIND, StructuredEvent::KIND];
    kinds.into_iter().find(|it| *it == name)
}

/// The subjects of events of a type from a source; 0 is any.
pub(crate) fn subject_filter(stream: &str, r#type: i32, source: i32) -> String {
    let token = |letter, value| match value {
        0 => "*".to_owned(),
        value => format!("{letter}{value}"),
    };
    format!(
        "orb.ev.{stream}.{}.{}",
        token('t', r#type),
        token('s', source)
    )
}

impl Message {
    /// An event of a real-time event channel. `entry` makes the id of an event without a creation
    /// time unique.
    ///
    /// # Errors
    /// [`CdrError`]: it cannot be encoded.
    pub(crate) fn of_event(stream: &str, event: &Event, entry: &str) -> Result<Self, CdrError> {
        let header = &event.header;
        let (r#type, source) = (header.r#type, header.source);
        Ok(Self {
            subject: format!("orb.ev.{stream}.t{type}.s{source}"),
            id: event_id(event, entry)?,
            kind: Event::KIND,
            payload: encapsulated(event)?,
        })
    }

    /// An event of a notification channel: `orb.ev.STREAM.se.<domain>.<type>`. `entry` is the id of
    /// an event without an id of its supplier.
    ///
    /// # Errors
    /// [`CdrError`]: it cannot be encoded.
    pub(crate) fn of_structured(
        stream: &str,
        event: &StructuredEvent,
        entry: &str,
    ) -> Result<Self, CdrError> {
        let kind = &event.header.fixed_header.event_type;
        let (domain, r#type) = (token(&kind.domain_name), token(&kind.type_name));
        let supplied = event
            .header
            .variable_header
            .iter()
            .find(|it| it.name == EVENT_ID);
        let supplied = supplied.and_then(|it| it.value.extract::<String>().ok());
        Ok(Self {
            subject: format!("orb.ev.{stream}.se.{domain}.{type}"),
            id: match supplied {
                Some(id) => token(&id),
                None => entry.to_owned(),
            },
            kind: StructuredEvent::KIND,
            payload: encapsulated(event)?,
        })
    }

    /// The headers of the stored message.
    pub(crate) fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(VERSION_HEADER, VERSION);
        headers.insert(KIND_HEADER, self.kind);
        headers.insert(ID_HEADER, self.id.as_str());
        headers
    }
}

/// The id of an event. It contains the creation time, which the supplier sets: an event that is
/// pushed again, since the first push has failed, has the same id. Times of the channel are not
/// part of it.
fn event_id(event: &Event, entry: &str) -> Result<String, CdrError> {
    let header = &event.header;
    let (r#type, source, created) = (header.r#type, header.source, header.creation_time);
    if created == 0 {
        return Ok(format!("{type}.{source}.{entry}"));
    }
    let mut writer = CdrWriter::new(Format {
        order: ByteOrder::Big,
        ..Format::native()
    });
    event.data.encode(&mut writer);
    let data = fnv1a(&writer.finish()?);
    Ok(format!("{type}.{source}.{created}.{data:016x}"))
}

/// Any text as a token of a subject: characters that are invalid in names as `=XX`, long texts as a
/// hash.
fn token(text: &str) -> String {
    if text.is_empty() {
        return "_".to_owned();
    }
    let mut token = String::new();
    for byte in text.bytes() {
        match byte {
            b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'-' => token.push(char::from(byte)),
            // A leading underscore, too: a single one represents an empty text.
            byte => token.push_str(&format!("={byte:02X}")),
        }
    }
    match token.len() {
        0..=60 => token,
        _ => format!("=={:016x}", fnv1a(text.as_bytes())),
    }
}

/// FNV-1a, 64 bits: the same in every version and on every host.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

fn encapsulated(value: &impl Encode) -> Result<Vec<u8>, CdrError> {
    let mut writer = CdrWriter::new(Format::native());
    writer.write_u8(ByteOrder::NATIVE.flag());
    value.encode(&mut writer);
    writer.finish()
}

/// The event of a message.
///
/// # Errors
/// [`MessageError`]: it is not a valid event of this kind.
pub(crate) fn event_of<T: Stored>(
    headers: Option<&HeaderMap>,
    payload: &[u8],
) -> Result<T, MessageError> {
    let header = |name| headers.and_then(|it| it.get(name)).map(HeaderValue::as_str);
    if header(VERSION_HEADER) != Some(VERSION) {
        return Err(MessageError::Version);
    }
    if header(KIND_HEADER) != Some(T::KIND) {
        return Err(MessageError::Kind);
    }
    decoded(payload)
}

fn decoded<T: Decode>(payload: &[u8]) -> Result<T, MessageError> {
    let order = match payload.first() {
        None => return Err(MessageError::Empty),
        Some(flag) if flag & 1 == 0 => ByteOrder::Big,
        Some(_) => ByteOrder::Little,
    };
    let format = Format {
        order,
        ..Format::native()
    };
    // The reader may change its buffer.
    let mut payload = payload.to_vec();
    let mut reader = CdrReader::new(&mut payload, format);
    reader.read_u8()?;
    let value = T::decode(&mut reader)?;
    match reader.remaining() {
        0 => Ok(value),
        count => Err(MessageError::Trailing(count)),
    }
}

#[cfg(test)]
mod tests {
    use orbium_event::new_event;

    use super::*;

    fn event() -> Event {
        let mut event = new_event(16, -3);
        event.data.payload = b"21.5".to_vec();
        event.data.any_value = "degrees".into();
        event
    }

    fn message(event: &Event) -> Message {
        Message::of_event("NAV", event, "entry").unwrap()
    }

    #[test]
    fn texts_become_tokens_of_subjects() {
        assert_eq!(token("Telecom-7"), "Telecom-7");
        assert_eq!(token("a.b_>*"), "a=2Eb=5F=3E=2A");
        assert_eq!((token("").as_str(), token("_").as_str()), ("_", "=5F"));
        let long = token(&"x".repeat(61));
        assert!(long.starts_with("==") && long != token(&"x".repeat(62)));
    }

    #[test]
    fn a_structured_event_survives_the_stream() {
        let mut event = orbium_notification::structured_event("Telecom", "", "link 7");
        event.remainder_of_body = "down".into();
        let stored = Message::of_structured("NAV", &event, "entry").unwrap();
        assert_eq!(stored.subject, "orb.ev.NAV.se.Telecom._");
        assert_eq!(stored.id, "entry");
        let headers = stored.headers();
        let read: StructuredEvent = event_of(Some(&headers), &stored.payload).unwrap();
        assert_eq!(read, event);
        let wrong: Result<Event, _> = event_of(Some(&headers), &stored.payload);
        assert!(matches!(wrong, Err(MessageError::Kind)));
        let id = orbium_notification::property(EVENT_ID, "7/3");
        event.header.variable_header.push(id);
        let stored = Message::of_structured("NAV", &event, "entry").unwrap();
        assert_eq!(stored.id, "7=2F3");
    }

    #[test]
    fn an_event_survives_the_stream() {
        let stored = message(&event());
        assert_eq!(stored.subject, "orb.ev.NAV.t16.s-3");
        let read: Event = event_of(Some(&stored.headers()), &stored.payload).unwrap();
        assert_eq!(read.data, event().data);
        assert_eq!(read.header.source, -3);
    }

    #[test]
    fn an_event_that_is_pushed_once_more_has_the_same_id() {
        let first = event();
        let mut again = first.clone();
        again.header.ec_recv_time = 7;
        again.header.ttl = 0;
        assert_eq!(message(&first).id, message(&again).id);
        again.data.payload.push(0);
        assert_ne!(message(&first).id, message(&again).id);
        again.header.creation_time = 0;
        assert!(message(&again).id.ends_with(".entry"));
    }

    #[test]
    fn messages_that_are_no_event_are_refused() {
        let stored = message(&event());
        let headers = stored.headers();
        let mut longer = stored.payload.clone();
        longer.extend([0; 9]);
        let cut = &stored.payload[..stored.payload.len() - 1];
        assert!(matches!(
            event_of::<Event>(Some(&headers), &[]),
            Err(MessageError::Empty)
        ));
        assert!(matches!(
            event_of::<Event>(Some(&headers), cut),
            Err(MessageError::Cdr(_))
        ));
        assert!(matches!(
            event_of::<Event>(Some(&headers), &longer),
            Err(MessageError::Trailing(9))
        ));
        assert!(matches!(
            event_of::<Event>(None, &stored.payload),
            Err(MessageError::Version)
        ));
        let mut other = headers.clone();
        other.insert(KIND_HEADER, "se");
        assert!(matches!(
            event_of::<Event>(Some(&other), &stored.payload),
            Err(MessageError::Kind)
        ));
    }

    #[test]
    fn filters_of_subjects_leave_out_what_is_zero() {
        assert_eq!(subject_filter("NAV", 16, 0), "orb.ev.NAV.t16.*");
        assert_eq!(subject_filter("NAV", 0, 3), "orb.ev.NAV.*.s3");
    }
}
