// SPDX-License-Identifier: MIT OR Apache-2.0
//! Factory, channels, admins, proxies and filters as CORBA objects.

mod activation;
mod admins;
mod channel;
mod common;
mod cos_event;
mod durable;
mod factory;
mod filters;
mod mapping_filters;
mod monitored;
mod proxy_consumers;
mod proxy_suppliers;
mod pull_consumers;
mod pull_suppliers;
mod supplier_admins;

pub(crate) use factory::{Behind, Factory};
