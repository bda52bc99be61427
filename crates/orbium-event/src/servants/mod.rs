// SPDX-License-Identifier: MIT OR Apache-2.0
//! A channel as CORBA objects.

mod channel;
mod consumers;
mod observer;
mod peers;
mod suppliers;
