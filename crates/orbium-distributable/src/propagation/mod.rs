// SPDX-License-Identifier: MIT OR Apache-2.0
//! Distributable threads across processes: interceptors, service context, notices.

pub(crate) mod client_interceptor;
pub(crate) mod context;
pub(crate) mod control;
pub(crate) mod notice;
pub(crate) mod presence;
pub(crate) mod server_interceptor;
mod wire_parameter;
