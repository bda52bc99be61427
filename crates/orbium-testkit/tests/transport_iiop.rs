// SPDX-License-Identifier: MIT OR Apache-2.0
//! TCP does what every transport must do.

use orbium_testkit::transport_suite::Subject;
use orbium_transport::Tcp;

orbium_testkit::transport_suite! {
    iiop => Subject::new(Tcp, |_| "iiop://127.0.0.1:0".into()),
}
