// SPDX-License-Identifier: MIT OR Apache-2.0
//! TCP keeps the contract of streams, over IPv4 and IPv6.

mod v4 {
    use crate::conformance;
    use orbium_transport::Tcp;

    conformance!(Tcp, "iiop://127.0.0.1:0");
}

mod v6 {
    use crate::conformance;
    use orbium_transport::Tcp;

    conformance!(Tcp, "iiop://[::1]:0");
}
