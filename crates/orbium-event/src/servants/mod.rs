// SPDX-License-Identifier: MIT OR Apache-2.0
//! A channel as CORBA objects.

mod channel;
mod consumers;
mod object;
mod observer;
mod peers;
mod suppliers;

pub use object::{ServedChannel, serve_channel};
pub use observer::RemoteObserver;
