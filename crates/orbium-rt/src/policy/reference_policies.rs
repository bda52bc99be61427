// SPDX-License-Identifier: MIT OR Apache-2.0
//! Client policies of references (RT-CORBA 1.2, clauses 5.11 to 5.15).

use orbium_core::{Interface, Priority, SystemException};
use orbium_giop::real_time::PriorityBand;

use crate::ProtocolList;
use crate::binding::{
    self, BindError, Bound, DedicationReply, Negotiation, Next, Offer, Reason, Terms,
};
use crate::error::bad_param;
use crate::policy::validation::check_bands_alone;

/// Real-time operations of references, including typed ones.
pub trait RtObject: Interface {
    /// The same object with a connection for each band of priorities
    /// (PriorityBandedConnectionPolicy). A call with a priority in no band raises
    /// NO_RESOURCES 2.
    ///
    /// # Errors
    /// BAD_PARAM for no bands, and for invalid ones.
    fn with_priority_bands(&self, bands: &[PriorityBand]) -> Result<Self, SystemException> {
        check_bands_alone(bands).map_err(|_| bad_param())?;
        Ok(Self::from_object(self.as_object().with_bands(bands)))
    }

    /// The same object with private connections (PrivateConnectionPolicy).
    #[must_use]
    fn with_private_connection(&self) -> Self {
        Self::from_object(self.as_object().with_private_connections())
    }

    /// The same object called by these protocols, best first, with the transport
    /// properties of the first that has any (ClientProtocolPolicy).
    #[must_use]
    fn with_client_protocols(&self, protocols: &ProtocolList) -> Self {
        let object = self.as_object();
        let properties = protocols.properties(&object.orb().config().properties);
        let object = object.with_protocols(protocols.policy());
        Self::from_object(match properties {
            Some(properties) => object.with_properties(properties),
            None => object,
        })
    }

    /// The same object with private connections, each of which requests a dedicated server thread
    /// at that priority; `None` leaves the priority to the server. Servers that do not support such
    /// markers, or refuse, serve them by their ordinary threads: see
    /// [`dedication`](Self::dedication) and the module [`binding`](crate::binding).
    #[must_use]
    fn with_dedicated_thread(&self, priority: Option<Priority>) -> Self {
        Self::from_object(self.as_object().with_dedicated_thread(priority))
    }

    /// The server's reply to the dedication request of the latest connection: `None` before its
    /// first reply, and permanently if it does not support markers.
    #[must_use]
    fn dedication(&self) -> Option<DedicationReply> {
        self.as_object().dedication()
    }

    /// Negotiates a binding: accepts any terms within the offer, within 5 s and 8 rounds.
    ///
    /// # Errors
    /// [`BindError`]; [`BindError::Countered`] has terms that the server would accept.
    fn bind(&self, offer: &Offer) -> Result<Bound<Self>, BindError> {
        binding::bind(self, offer)
    }

    /// Negotiates a binding; `countered` decides on each counter-offer.
    ///
    /// # Errors
    /// [`BindError`].
    fn bind_with(
        &self,
        offer: &Offer,
        limits: Negotiation,
        countered: impl FnMut(&Terms, &Reason) -> Next,
    ) -> Result<Bound<Self>, BindError> {
        binding::bind_with(self, offer, limits, countered)
    }
}

impl<I: Interface> RtObject for I {}
