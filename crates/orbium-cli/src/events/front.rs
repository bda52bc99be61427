// SPDX-License-Identifier: MIT OR Apache-2.0
//! COS Notification in front of a served channel.

use clap::Args;
use orbium::Orb;
use orbium::interceptor::Interceptors;
use orbium_event::Channel;
use orbium_notification::{EventHeaders, NotificationConfig, NotificationService};

use crate::events::connections::ConnectionsArgs;
use crate::failure::Failure;
use crate::serving::because;

/// A type and a source.
type Header = (i32, i32);

#[derive(Debug, Args)]
pub(super) struct FrontArgs {
    /// Serve the channel as COS Notification too, with this key: structured events and filters
    #[arg(
        long,
        value_name = "KEY",
        num_args = 0..=1,
        default_missing_value = "NotificationChannel",
        conflicts_with = "jetstream"
    )]
    notification: Option<String>,
    /// The type and source that structured events have in the channel
    #[arg(long, value_name = "TYPE:SOURCE", default_value = "16:1", value_parser = header, requires = "notification")]
    structured: Header,
    /// Structured events of this domain and event type have another type and source; may be repeated
    #[arg(long = "event-type", value_name = "DOMAIN/NAME=TYPE:SOURCE", value_parser = event_type, requires = "notification")]
    event_types: Vec<(String, String, Header)>,
    #[command(flatten)]
    connections: ConnectionsArgs,
}

impl FrontArgs {
    /// The interceptors of the ORB: the reply to a pull from a notification channel has the number
    /// of events that were dropped.
    pub(super) fn interceptors(&self) -> Interceptors {
        match self.notification {
            Some(_) => Interceptors::new().with_reply_contexts(),
            None => Interceptors::new(),
        }
    }

    /// Serves the channel behind a notification channel, if the options request one.
    pub(super) fn serve(
        &self,
        orb: &Orb,
        channel: &Channel,
    ) -> Result<Option<NotificationService>, Failure> {
        let Some(key) = &self.notification else {
            return match self.connections.file() {
                Some(_) => Err(Failure::wrong_usage("--connections is for --notification")),
                None => Ok(None),
            };
        };
        let (r#type, source) = self.structured;
        let mut headers = EventHeaders::new(r#type, source);
        for (domain, name, header) in &self.event_types {
            headers = headers.with(domain, name, *header);
        }
        let config = NotificationConfig {
            connections: self.connections.file(),
            ..NotificationConfig::default()
        };
        let served = NotificationService::serve_over(orb, key, config, (channel, headers));
        served.map(Some).map_err(because)
    }
}

fn header(text: &str) -> Result<Header, String> {
    let numbers = text.split_once(':');
    let numbers =
        numbers.and_then(|(r#type, source)| Some((r#type.parse().ok()?, source.parse().ok()?)));
    numbers
        .filter(|(r#type, source)| *r#type >= 16 && *source != 0)
        .ok_or_else(|| "a type from 16 on and a source other than 0, as in 16:1".to_owned())
}

fn event_type(text: &str) -> Result<(String, String, Header), String> {
    let parts = text.split_once('=');
    let parts = parts.and_then(|(named, given)| Some((named.split_once('/')?, given)));
    let ((domain, name), given) =
        parts.ok_or("a domain, a name, a type and a source, as in Telecom/Alarm=17:1")?;
    Ok((domain.to_owned(), name.to_owned(), header(given)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_and_sources_are_read() {
        assert_eq!(header("17:2"), Ok((17, 2)));
        for wrong in ["", "17", "17:", "15:1", "17:0", "17:1:1", "a:b"] {
            assert!(header(wrong).is_err(), "{wrong}");
        }
        let named = event_type("Telecom/Alarm=17:2");
        assert_eq!(named, Ok(("Telecom".into(), "Alarm".into(), (17, 2))));
        for wrong in ["", "Telecom=17:2", "Telecom/Alarm", "Telecom/Alarm=9:1"] {
            assert!(event_type(wrong).is_err(), "{wrong}");
        }
    }
}
