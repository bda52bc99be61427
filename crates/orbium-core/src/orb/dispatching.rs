// SPDX-License-Identifier: MIT OR Apache-2.0
//! The ORB as seen by its server engine and its adapters.

use orbium_cdr::CdrReader;
use orbium_channel::protocol::ProfileComponents;
use orbium_giop::{Ior, SystemException};

use orbium_invocation::exceptions::already_shut_down;

use super::{Orb, OrbCore};
use crate::adapter::ReferenceFactory;
use crate::{Call, Lane, ObjectRef, Priority, ProtocolPolicy};
use orbium_lane::Route;
use orbium_request::UntypedReply;
use orbium_request::{Dispatcher, IncomingRequest, Located, ServerContext};

impl Dispatcher for OrbCore {
    fn context(&self) -> &ServerContext {
        &self.serving
    }

    fn serve(
        &self,
        request: &IncomingRequest<'_>,
        arguments: &mut CdrReader<'_>,
        reply: &mut UntypedReply<'_>,
    ) {
        self.adapters.serve(request, arguments, reply);
    }

    fn serve_unobserved(
        &self,
        request: &IncomingRequest<'_>,
        arguments: &mut CdrReader<'_>,
        reply: &mut UntypedReply<'_>,
    ) {
        self.adapters.serve_unobserved(request, arguments, reply);
    }

    fn destination(&self, request: &IncomingRequest<'_>) -> Result<Option<Route>, SystemException> {
        self.adapters.destination(request)
    }

    fn locate(&self, key: &[u8]) -> Located {
        self.adapters.locate(key)
    }

    fn takes_listen_points(&self, key: &[u8]) -> bool {
        self.adapters.takes_listen_points(key)
    }

    fn forget_lane(&self, number: u32) {
        self.adapters.lanes.forget(number);
    }

    fn reference_of(&self, key: &[u8]) -> Option<Ior> {
        let object = self.adapters.registry.find(key).ok()?;
        Some(object.reference().ok()?.ior().clone())
    }
}

impl ReferenceFactory for OrbCore {
    fn own_lane(&self) -> Result<Lane, SystemException> {
        self.handle().ok_or_else(already_shut_down)?.own_lane()
    }

    fn check_serving(&self) -> Result<(), SystemException> {
        let orb = self.handle().ok_or_else(already_shut_down)?;
        orb.check_running()?;
        orb.check_process()
    }

    fn main_lane(&self) -> Result<(), SystemException> {
        self.handle().ok_or_else(already_shut_down)?.main_lane()
    }

    fn received_reference(&self, ior: Ior) -> Result<ObjectRef, SystemException> {
        let orb = self.handle().ok_or_else(already_shut_down)?;
        Ok(orb.plain_reference(ior))
    }

    fn reference(
        &self,
        key: &[u8],
        repository_id: &str,
        protocols: Option<&ProtocolPolicy>,
        components: ProfileComponents,
        lanes: (&[Lane], Option<Priority>),
    ) -> Result<ObjectRef, SystemException> {
        let orb = self.handle().ok_or_else(already_shut_down)?;
        orb.reference_to_key(key, repository_id, protocols, components, lanes)
    }
}

impl Orb {
    /// Whether a key belongs to an object here.
    pub(crate) fn locate(&self, key: &[u8]) -> Located {
        self.core().adapters.locate(key)
    }
}

impl Call<'_> {
    /// The ORB that serves the request.
    #[must_use]
    pub fn orb(&self) -> Orb {
        match Orb::from_owner(&self.incoming.context.owner) {
            Some(orb) => orb,
            None => unreachable!("the thread that serves a request holds the ORB"),
        }
    }
}
