// SPDX-License-Identifier: MIT OR Apache-2.0
//! The servants, and their activation in an ORB.

mod cube;
mod peer;
mod receiver;
mod tally;
mod values;

pub use cube::CubeServant;
pub use peer::PeerServant;
pub use receiver::ReceiverServant;
pub use values::{EchoServant, note, parcel, register_values, serve_values};

use orbium::{ExceptionKind, Orb, SystemException, poa::PoaError};

use crate::{cubit, kitchen, ttcp};

/// The objects activated by [`serve`].
#[derive(Clone, Debug)]
pub struct Served {
    /// Bound to the key `Cube`.
    pub cube: cubit::Cube,
    /// Bound to the key `Receiver`.
    pub receiver: ttcp::Receiver,
    /// Bound to the key `Peer`.
    pub peer: kitchen::Peer,
}

/// Activates the three servants in the root adapter, also under the plain keys `Cube`, `Receiver`
/// and `Peer`, and activates the adapter's manager.
///
/// `Cube::shutdown` ends the ORB without waiting for it.
///
/// # Errors
/// The ORB cannot listen, or was shut down.
pub fn serve(orb: &Orb) -> Result<Served, PoaError> {
    let poa = orb.root_poa();
    let served = Served {
        cube: poa.activate(CubeServant::default())?,
        receiver: poa.activate(ReceiverServant::default())?,
        peer: poa.activate(PeerServant::default())?,
    };
    orb.bind_key("Cube", &served.cube)?;
    orb.bind_key("Receiver", &served.receiver)?;
    orb.bind_key("Peer", &served.peer)?;
    // Only an adapter that was shut down cannot be activated.
    poa.manager()
        .activate()
        .map_err(|_| SystemException::from(ExceptionKind::ObjAdapter))?;
    Ok(served)
}
