// SPDX-License-Identifier: MIT OR Apache-2.0
//! The transport `shmiop`, of the feature `shm`.

use orbium_transport::Transport;

type Constructor = fn() -> Transport;

/// The transport; `None` if this program was built without it.
pub(super) fn shared_memory() -> Option<Transport> {
    let constructors: &[Constructor] = &[
        #[cfg(all(target_os = "linux", feature = "shm"))]
        || Transport::stream(orbium_shm::ShmTransport::default()),
    ];
    constructors.first().map(|construct| construct())
}
