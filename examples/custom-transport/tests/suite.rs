// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pipes do what every transport must do.

use custom_transport::Pipes;
use orbium_testkit::transport_suite::Subject;

orbium_testkit::transport_suite! {
    pipe => Subject::new(Pipes, |unique| {
        let directory = std::env::temp_dir().join(format!("orbium-pipes-{unique}"));
        format!("pipe://{}", directory.display())
    }),
}
