// SPDX-License-Identifier: MIT OR Apache-2.0
//! Gateways between event channels: by IIOP, by oneways to an object group of MIOP, and by the datagrams
//! of TAO's gateways to a multicast group or one host.
//!
//! ```no_run
//! use orbium::Orb;
//! use orbium_event_gateway::{End, Gateway, GatewayConfig};
//!
//! let orb = Orb::builder().endpoint("iiop://localhost:0")?.build()?;
//! let channel = End::Channel("corbaloc::localhost:5020/EventService".to_owned());
//! let group = End::Datagrams("239.255.7.1:5050".to_owned());
//! let outward = Gateway::start(&orb, &channel, &group, GatewayConfig::default())?;
//! let inward = Gateway::start(&orb, &group, &channel, GatewayConfig::default())?;
//! # drop((outward, inward));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Not part of it: channels, and reliable delivery. Events that arrive while an end is unreachable
//! are lost, and counted.
#![forbid(unsafe_code)]

mod addresses;
mod datagram;
mod gateway;
mod gateway_config;
mod group;
mod link;
mod reassembly;
mod receiver;
mod sender;
mod sequence;
mod shared;

pub use addresses::{AddressError, AddressKey, Addresses};
pub use gateway::Gateway;
pub use gateway_config::{
    DatagramConfig, End, Forwards, GatewayConfig, GatewayError, GatewayStatistics, GroupConfig,
};
