// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connections: messages on them, how calls share them, when they end.

mod bridge;
mod client_connections;
mod client_matrix;
mod close;
mod code_sets;
mod datagrams;
mod fragmentation;
mod idle_connections;
mod idle_servers;
mod ipv6;
mod large_messages;
mod multiplexing;
mod needs_addressing_mode;
mod pipelining;
mod protocols;
mod waiting_by_reactor;
