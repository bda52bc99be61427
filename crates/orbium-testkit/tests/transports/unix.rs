// SPDX-License-Identifier: MIT OR Apache-2.0
//! Unix sockets do what every transport must do.

use orbium_testkit::transport_suite::Subject;
use orbium_transport::Unix;

orbium_testkit::transport_suite! {
    uiop => Subject::new(Unix, |unique| {
        let path = std::env::temp_dir().join(format!("orbium-suite-{unique}.sock"));
        format!("uiop://{}", path.display())
    }),
}
