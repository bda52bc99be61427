// SPDX-License-Identifier: MIT OR Apache-2.0
//! Peers and transports that fail, lie or fall silent.

mod crashed_servers;
mod decompression;
mod dying_servers;
mod faulty_transports;
mod forked;
mod hostile_peer;
mod odd_streams;
mod panics;
mod silent_peers;
mod stopped_reader;
