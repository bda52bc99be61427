// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls in other messaging protocols than GIOP, over TCP and Unix sockets.

use orbium_giop::messaging::ziop::Ziop;
use orbium_giop::messaging::{Fixed, GiopLite, Native};
use orbium_testkit::transport_suite::{Subject, loopback};
use orbium_transport::{Tcp, Unix};

fn over_tcp() -> Subject {
    Subject::new(Tcp, |unique| format!("iiop://{}:0", loopback(unique))).strategies_elsewhere()
}

fn over_unix() -> Subject {
    Subject::new(Unix, |unique| {
        let path = std::env::temp_dir().join(format!("orbium-suite-{unique}.half"));
        format!("uiop://{}", path.display())
    })
    .strategies_elsewhere()
}

orbium_testkit::transport_suite! {
    @orbs
    giop_lite => over_tcp().messaging(GiopLite),
    native => over_unix().messaging(Native::default()),
    fixed => over_tcp().messaging(Fixed),
    ziop => over_tcp()
        .messaging(Ziop::default().with_low_water(100).with_level(1))
        .allocations_per_call(20),
    fixed_in_ziop => over_unix()
        .messaging(Fixed)
        .messaging(Ziop::default().with_level(1))
        .allocations_per_call(20),
}
