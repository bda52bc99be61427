// SPDX-License-Identifier: MIT OR Apache-2.0
//! Gateways between channels.

mod channels;
mod datagrams;
mod federation;
mod groups;
