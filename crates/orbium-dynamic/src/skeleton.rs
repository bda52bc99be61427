// SPDX-License-Identifier: MIT OR Apache-2.0
//! The dynamic skeleton interface: servants that take any operation.

mod answer;
mod deferred;
mod implementation;
mod interception;
mod operation_servant;
mod server_request;

pub use deferred::DeferredServerRequest;
pub use implementation::{DynamicImplementation, dynamic_servant};
pub use operation_servant::{DynamicServant, DynamicServantBuilder};
pub use server_request::ServerRequest;
