// SPDX-License-Identifier: MIT OR Apache-2.0
//! GIOP messages, interoperable object references and addressing, without I/O
