// SPDX-License-Identifier: MIT OR Apache-2.0
//! The arguments of the commands that call a channel.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::Args;
use orbium::transport::Endpoint;
use orbium_event::Replay;

use crate::object::{ping, reference};

/// Parses the position at which a consumer begins.
fn replay(text: &str) -> Result<Replay, String> {
    let wrong = || format!("{text}: neither last, from=N nor ago=SECONDS");
    match text.split_once('=') {
        None if text == "last" => Ok(Replay::Last),
        Some(("from", number)) => number.parse().map(Replay::Sequence).map_err(|_| wrong()),
        Some(("ago", seconds)) => {
            let ago = ping::seconds(seconds).map_err(|_| wrong())?;
            let begin = SystemTime::now().checked_sub(ago);
            Ok(Replay::Time(begin.unwrap_or(UNIX_EPOCH)))
        }
        _ => Err(wrong()),
    }
}

#[derive(Debug, Args)]
pub(super) struct ChannelArgs {
    #[arg(value_name = "REF", help = reference::HELP)]
    pub(super) channel: String,
    /// Seconds that each answer may take
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = ping::seconds)]
    pub(super) timeout: Duration,
    #[command(flatten)]
    pub(super) protocols: reference::ProtocolArgs,
}

#[derive(Debug, Args)]
pub(super) struct HeaderArgs {
    /// The type of events; 0 is any
    #[arg(
        long,
        value_name = "N",
        default_value = "0",
        allow_negative_numbers = true
    )]
    pub(super) r#type: i32,
    /// The source of events; 0 is any
    #[arg(
        long,
        value_name = "N",
        default_value = "0",
        allow_negative_numbers = true
    )]
    pub(super) source: i32,
}

#[derive(Debug, Args)]
pub(super) struct TailArgs {
    #[command(flatten)]
    pub(super) channel: ChannelArgs,
    #[command(flatten)]
    pub(super) header: HeaderArgs,
    /// The RT_Info of this consumer in the schedule of the channel; 0 is none
    #[arg(
        long,
        value_name = "N",
        default_value = "0",
        allow_negative_numbers = true
    )]
    pub(super) rt_info: i32,
    /// Continue where the last consumer of this name ended, on a channel that stores its events
    #[arg(long, value_name = "NAME", conflicts_with = "rt_info")]
    pub(super) name: Option<String>,
    /// Begin with earlier events: the `last` of each type and source; on a channel that stores its
    /// events also those `from=N` on, a sequence, or `ago=SECONDS`
    #[arg(long, value_name = "BEGIN", value_parser = replay, conflicts_with_all = ["name", "rt_info", "filter"])]
    pub(super) replay: Option<Replay>,
    /// A constraint in EXTENDED_TCL that events of a notification channel have to match
    #[arg(long, value_name = "CONSTRAINT")]
    pub(super) filter: Option<String>,
    /// End after so many events
    #[arg(long, value_name = "N")]
    pub(super) count: Option<u64>,
    /// Endpoint of this program for the calls of the channel
    #[arg(long, value_name = "URL", default_value = "iiop://localhost:0")]
    pub(super) endpoint: Endpoint,
}

#[derive(Debug, Args)]
pub(super) struct PushArgs {
    #[command(flatten)]
    pub(super) channel: ChannelArgs,
    #[command(flatten)]
    pub(super) header: HeaderArgs,
    /// The structured event, for a notification channel, as `tail` prints it, or @FILE, or - for standard input
    #[arg(long, value_name = "EVENT", conflicts_with_all = ["text", "payload"])]
    pub(super) json: Option<String>,
    /// The any of the event, or the remainder of the body of a structured one: a string
    #[arg(long, value_name = "TEXT")]
    pub(super) text: Option<String>,
    /// The payload, as text
    #[arg(long, value_name = "TEXT")]
    pub(super) payload: Option<String>,
    /// Number of gateways that may forward the event
    #[arg(long, value_name = "N", default_value = "1")]
    pub(super) ttl: i32,
}

#[derive(Debug, Args)]
pub(super) struct StatArgs {
    #[command(flatten)]
    pub(super) channel: ChannelArgs,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}
