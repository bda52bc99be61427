// SPDX-License-Identifier: MIT OR Apache-2.0
//! Endpoints, acceptors, connectors and byte streams
