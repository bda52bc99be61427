// SPDX-License-Identifier: MIT OR Apache-2.0
//! Streams within a process do what every transport must do.

use orbium_testkit::transport_suite::Subject;
use orbium_transport::InProcess;

orbium_testkit::transport_suite! {
    inproc => Subject::new(InProcess, |unique| format!("inproc://suite-{unique}"))
        .within_one_process()
        .named_endpoints(),
}
