// SPDX-License-Identifier: MIT OR Apache-2.0
//! TCP does what every transport must do.

use orbium_testkit::transport_suite::{Subject, loopback};
use orbium_transport::Tcp;

orbium_testkit::transport_suite! {
    iiop => Subject::new(Tcp, |unique| {
        format!("iiop://{}:0", loopback(unique))
    }),
}
