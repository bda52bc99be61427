// SPDX-License-Identifier: MIT OR Apache-2.0
//! Common Data Representation: IDL values to bytes and back
