// SPDX-License-Identifier: MIT OR Apache-2.0
//! The format of media datagrams.

mod datagram;
mod octets;
