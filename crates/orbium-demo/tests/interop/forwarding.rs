// SPDX-License-Identifier: MIT OR Apache-2.0
//! References that lead to servant managers, which send clients to the objects.

use std::sync::Arc;

use orbium::{
    Interface, ObjectRef, Orb, Servant, SystemException,
    poa::{
        ForwardRequest, IdAssignment, IdUniqueness, Poa, PoaError, Policies, RequestProcessing,
        ServantActivator, ServantError, ServantLocator, ServantRetention,
    },
};
use orbium_demo::Served;

/// How clients get to the objects.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Forwarded {
    /// An activator sends them there: LOCATION_FORWARD.
    ByActivator,
    /// A locator does, for good: LOCATION_FORWARD_PERM.
    ByLocator,
}

/// The objects, by the ids that clients call.
struct Elsewhere(Vec<(&'static [u8], ForwardRequest)>);

impl Elsewhere {
    fn forward<T>(&self, id: &[u8]) -> Result<T, ServantError> {
        match self.0.iter().find(|(it, _)| *it == id) {
            Some((_, forward)) => Err(forward.clone().into()),
            None => Err(SystemException::from(orbium::ExceptionKind::ObjectNotExist).into()),
        }
    }
}

impl ServantActivator for Elsewhere {
    fn incarnate(&self, id: &[u8], _: &Poa) -> Result<Arc<dyn Servant>, ServantError> {
        self.forward(id)
    }
}

impl ServantLocator for Elsewhere {
    type Cookie = ();

    fn preinvoke(
        &self,
        id: &[u8],
        _: &Poa,
        _: &[u8],
    ) -> Result<(Arc<dyn Servant>, ()), ServantError> {
        self.forward(id)
    }

    fn locate(&self, id: &[u8], _: &Poa) -> Option<ForwardRequest> {
        match self.forward::<()>(id) {
            Err(ServantError::Forward(forward)) => Some(forward),
            _ => None,
        }
    }
}

/// References to cube, receiver and peer, by way of a servant manager if that is wanted.
pub(crate) fn references(
    orb: &Orb,
    served: &Served,
    how: Option<Forwarded>,
) -> Result<[ObjectRef; 3], PoaError> {
    let objects: [(&'static [u8], &ObjectRef); 3] = [
        (b"cube", served.cube.as_object()),
        (b"receiver", served.receiver.as_object()),
        (b"peer", served.peer.as_object()),
    ];
    let Some(how) = how else {
        return Ok(objects.map(|(_, object)| object.clone()));
    };
    let elsewhere = objects.iter().map(|(id, object)| {
        let forward = match how {
            Forwarded::ByActivator => ForwardRequest::to(*object),
            Forwarded::ByLocator => ForwardRequest::permanently_to(*object),
        };
        (*id, forward)
    });
    let elsewhere = Elsewhere(elsewhere.collect());
    let root = orb.root_poa();
    let policies = Policies {
        id_assignment: IdAssignment::User,
        id_uniqueness: IdUniqueness::Multiple,
        request_processing: RequestProcessing::ServantManager,
        servant_retention: match how {
            Forwarded::ByActivator => ServantRetention::Retain,
            Forwarded::ByLocator => ServantRetention::NonRetain,
        },
        ..Policies::default()
    };
    let poa = root.create_poa("front", Some(root.manager()), policies)?;
    match how {
        Forwarded::ByActivator => poa.set_servant_activator(elsewhere)?,
        Forwarded::ByLocator => poa.set_servant_locator(elsewhere)?,
    }
    let [cube, receiver, peer] =
        objects.map(|(id, object)| poa.create_object_reference_with_id(id, &object.ior().type_id));
    Ok([cube?, receiver?, peer?])
}
