// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bidirectional GIOP as programs see it. The clients here announce addresses at which
//! nothing answers: what calls them back goes over their own connections.

mod call_backs;
mod closing;
mod common;
mod firewall;
mod lanes;
mod listen_points;
mod messages;
mod policies;
mod realm;
mod stalled;
mod transports;
