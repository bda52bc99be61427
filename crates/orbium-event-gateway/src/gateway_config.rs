// SPDX-License-Identifier: MIT OR Apache-2.0
//! Configuration of a gateway: its two ends, its bounds and its counts.

use std::convert::Infallible;
use std::fmt;
use std::io;
use std::str::FromStr;
use std::time::Duration;

use orbium::transport::ListenError;
use orbium_event::Pattern;

use crate::addresses::AddressError;

/// One end of a gateway.
///
/// ```
/// use orbium_event_gateway::End;
///
/// let group: End = "udp:239.255.7.1:5050".parse()?;
/// assert_eq!(group, End::Datagrams("239.255.7.1:5050".to_owned()));
/// # Ok::<(), std::convert::Infallible>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// A channel by its reference, which is resolved for each connection: with `corbaloc:` and
    /// `corbaname:` a restarted channel is found.
    Channel(String),
    /// Datagrams of TAO's format, by `host:port`; a multicast address is a group. Or by an address
    /// for each event: a table in the form of [`Addresses`](crate::Addresses), or
    /// `server:REFERENCE` of an `RtecUDPAdmin::AddrServer`, which can only be a destination.
    Datagrams(String),
    /// An object group of MIOP, by its reference `corbaloc:miop:…`: oneway pushes of
    /// `RtecEventComm::PushConsumer`.
    Group(String),
}

impl End {
    /// The channel, if it is one.
    pub(crate) fn channel(&self) -> Option<&str> {
        match self {
            Self::Channel(reference) => Some(reference),
            Self::Datagrams(_) | Self::Group(_) => None,
        }
    }
}

impl FromStr for End {
    type Err = Infallible;

    /// `udp:host:port` is datagrams, `corbaloc:miop:…` a group, any other text the reference of a
    /// channel.
    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match text.strip_prefix("udp:") {
            Some(address) => Self::Datagrams(address.to_owned()),
            None if text.starts_with("corbaloc:miop:") => Self::Group(text.to_owned()),
            None => Self::Channel(text.to_owned()),
        })
    }
}

/// Events that a gateway forwards.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Forwards {
    /// The events to which consumers of the other channel subscribe, as its observers are notified;
    /// all events if the other end is datagrams or a group.
    #[default]
    Subscribed,
    /// Events that match this pattern. For chains of more than two channels: observers do not see
    /// the subscriptions of gateways.
    Pattern(Pattern),
}

/// The datagrams of TAO's gateways: both sides must agree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatagramConfig {
    /// Maximum bytes of a datagram, the header of 32 included; 1,024 by default, 40 at least.
    pub mtu: usize,
    /// Whether datagrams carry a CRC-32, and are dropped if it is wrong; no by default.
    pub crc: bool,
    /// Maximum bytes of an event that is reassembled from datagrams; 1 MiB by default.
    pub message: usize,
    /// The interface of a group, by name, index or address; by default that of the routing table.
    pub interface: Option<String>,
}

impl Default for DatagramConfig {
    fn default() -> Self {
        Self {
            mtu: 1024,
            crc: false,
            message: 1 << 20,
            interface: None,
        }
    }
}

/// The packets of MIOP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupConfig {
    /// Maximum number of networks that packets pass: the time to live of IP; 1 by default, which is
    /// the local network.
    pub hops: u8,
    /// The interface of a group, by name, index or address; by default that of the routing table.
    pub interface: Option<String>,
}

impl Default for GroupConfig {
    fn default() -> Self {
        Self {
            hops: 1,
            interface: None,
        }
    }
}

/// Configuration of a gateway. Each bound is for one gateway.
#[derive(Clone, Debug, PartialEq)]
pub struct GatewayConfig {
    /// The forwarded events.
    pub forwards: Forwards,
    /// Whether the time to live of an event counts gateways: an event with 0 is not forwarded; yes
    /// by default. Without it only channels of orbium's exclude loops.
    pub uses_ttl: bool,
    /// Maximum number of sets of events that wait to be forwarded; 1,024 by default. Beyond it the
    /// oldest are discarded, and counted.
    pub queue: usize,
    /// Bytes of the events that wait to be forwarded; 16 MiB by default. Beyond it the oldest sets are discarded, and
    /// counted; a larger set waits alone.
    pub queue_bytes: usize,
    /// Interval between two checks of both channels; 1 s by default, a day at most.
    pub check_period: Duration,
    /// The first pause before reconnecting; 100 ms by default. It doubles.
    pub first_pause: Duration,
    /// The longest pause before reconnecting; 5 s by default.
    pub longest_pause: Duration,
    /// For ends that are datagrams.
    pub datagrams: DatagramConfig,
    /// For ends that are groups.
    pub group: GroupConfig,
}

impl Default for GatewayConfig {
    fn default() -> Self {
        Self {
            forwards: Forwards::default(),
            uses_ttl: true,
            queue: 1024,
            queue_bytes: 16 << 20,
            check_period: Duration::from_secs(1),
            first_pause: Duration::from_millis(100),
            longest_pause: Duration::from_secs(5),
            datagrams: DatagramConfig::default(),
            group: GroupConfig::default(),
        }
    }
}

/// Error of starting a gateway.
#[non_exhaustive]
pub enum GatewayError {
    /// Neither end is a channel.
    NoChannel,
    /// The size of datagrams is not permitted by TAO's format.
    Mtu(usize),
    /// The receiving socket cannot be opened.
    Listen(ListenError),
    /// The sending socket cannot be opened, or a thread not be started.
    Io(io::Error),
    /// The interface of a group is invalid.
    Interface(String),
    /// The addresses of datagrams are invalid.
    Address(AddressError),
    /// A server of addresses cannot be a source of datagrams.
    AddressServer,
    /// The reference of a group is invalid, or the ORB cannot call or join it.
    Group(String),
}

impl fmt::Display for GatewayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoChannel => f.write_str("one end of a gateway must be a channel"),
            Self::Mtu(bytes) => write!(f, "datagrams have 40 to 65,507 bytes, not {bytes}"),
            Self::Listen(error) => error.fmt(f),
            Self::Io(error) => error.fmt(f),
            Self::Interface(name) => write!(f, "no interface {name:?}"),
            Self::Address(error) => error.fmt(f),
            Self::AddressServer => f.write_str(
                "a server of addresses is where events go, not where they come from: name the groups",
            ),
            Self::Group(why) => write!(f, "no group: {why}"),
        }
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for GatewayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for GatewayError {}

impl From<AddressError> for GatewayError {
    fn from(error: AddressError) -> Self {
        Self::Address(error)
    }
}

impl From<io::Error> for GatewayError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Counts of a gateway, in events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GatewayStatistics {
    /// Passed to the other end.
    pub forwarded: u64,
    /// Not forwarded: their time to live was 0.
    pub expired: u64,
    /// Lost: the queue was full, or the other end could not be reached.
    pub lost: u64,
    /// Left out: a gateway of this process has sent them from the same channel to the group.
    pub own: u64,
    /// Sets, not events, of other gateways of orbium's that were sent to the group and have not
    /// arrived.
    pub missing: u64,
    /// Connections to both ends, in sequence.
    pub connections: u64,
    /// Whether both ends are connected.
    pub is_connected: bool,
}
