// SPDX-License-Identifier: MIT OR Apache-2.0
//! Dead letters: events that their consumer does not accept, stored in a separate stream.

use async_nats::HeaderMap;
use async_nats::jetstream::message::{Info, Message, PublishMessage};

use crate::stream::Stream;
use crate::stream::message::ID_HEADER;

/// The stream in which the event was delivered.
const STREAM: &str = "Orb-Stream";
/// Its position in that stream.
const SEQUENCE: &str = "Orb-Sequence";
/// The consumer that has not accepted it.
const CONSUMER: &str = "Orb-Consumer";
/// The number of its last delivery.
const DELIVERIES: &str = "Orb-Deliveries";
/// The reason why it was not accepted.
const CAUSE: &str = "Orb-Cause";
/// Maximum characters of a stored cause.
const MAX_CAUSE: usize = 256;

/// An event that a consumer has not accepted.
pub(crate) struct DeadLetter<'a> {
    pub(crate) message: &'a Message,
    pub(crate) info: &'a Info<'a>,
    pub(crate) cause: &'a str,
}

impl DeadLetter<'_> {
    /// Stores it in that stream, once for each consumer however often the call is repeated.
    ///
    /// # Errors
    /// The stream has not acknowledged it.
    pub(crate) async fn store(&self, stream: &Stream, dead: &str) -> Result<(), String> {
        let publish = PublishMessage::build()
            .payload(self.message.payload.clone())
            .headers(self.headers());
        let subject = subject(self.message.subject.as_str(), self.info.stream, dead);
        let sent = stream.context.send_publish(subject, publish).await;
        let stored = sent.map_err(|error| error.to_string())?.await;
        stored.map_err(|error| error.to_string())?;
        Ok(())
    }

    fn headers(&self) -> HeaderMap {
        let info = self.info;
        let mut headers = own_headers(self.message.headers.as_ref());
        // With the time, since a stream that was deleted and created again has the same positions.
        let id = format!(
            "{}.{}.{}.{}",
            info.stream,
            info.consumer,
            info.stream_sequence,
            info.published.unix_timestamp_nanos()
        );
        headers.insert(ID_HEADER, id);
        headers.insert(STREAM, info.stream);
        headers.insert(SEQUENCE, info.stream_sequence.to_string());
        headers.insert(CONSUMER, info.consumer);
        headers.insert(DELIVERIES, info.delivered.to_string());
        headers.insert(CAUSE, header_text(self.cause));
        headers
    }
}

/// The headers of a message except those that the server interprets: with `Nats-Expected-Stream` of
/// the first stream, for instance, the second one would refuse the message.
fn own_headers(headers: Option<&HeaderMap>) -> HeaderMap {
    let mut own = HeaderMap::new();
    for (name, values) in headers.into_iter().flat_map(HeaderMap::iter) {
        let text: &str = name.as_ref();
        if text.to_ascii_lowercase().starts_with("nats-") {
            continue;
        }
        for value in values {
            own.append(name.clone(), value.clone());
        }
    }
    own
}

/// A text as the value of a header, which has no line breaks.
fn header_text(text: &str) -> String {
    let text = text.chars().take(MAX_CAUSE);
    text.map(|it| if it.is_control() { ' ' } else { it })
        .collect()
}

/// The subject of a stream's event in another stream.
fn subject(of: &str, stream: &str, dead: &str) -> String {
    let rest = of.strip_prefix(&format!("orb.ev.{stream}."));
    format!("orb.ev.{dead}.{}", rest.unwrap_or("_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dead_letter_keeps_its_type_and_source() {
        let dead = subject("orb.ev.NAV.t16.s1", "NAV", "DEAD");
        assert_eq!(dead, "orb.ev.DEAD.t16.s1");
        assert_eq!(subject("elsewhere", "NAV", "DEAD"), "orb.ev.DEAD._");
    }

    #[test]
    fn headers_for_the_server_are_left_out() {
        let mut headers = HeaderMap::new();
        for name in ["Orb-Kind", "Nats-Expected-Stream", "nats-rollup", "Other"] {
            headers.append(name, "1");
            headers.append(name, "2");
        }
        let own = own_headers(Some(&headers));
        let mut names: Vec<&str> = own.iter().map(|(name, _)| name.as_ref()).collect();
        names.sort_unstable();
        assert_eq!(names, ["Orb-Kind", "Other"]);
        assert_eq!(own.get_all("Other").count(), 2);
        assert!(own_headers(None).is_empty());
    }

    #[test]
    fn a_cause_has_one_line_and_a_bound() {
        assert_eq!(header_text("a\r\nNats-Rollup: all"), "a  Nats-Rollup: all");
        assert_eq!(header_text(&"ä".repeat(300)).chars().count(), MAX_CAUSE);
    }
}
