// SPDX-License-Identifier: MIT OR Apache-2.0
//! Object reference templates and factories, which make an adapter's references.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use orbium_giop::{Completion, ExceptionKind, Ior, SystemException};
use tracing::error;

use crate::errors::panicked;
use crate::registration::identity::OrbIdentity;

/// Makes references to the objects of one adapter
/// (`PortableInterceptor::ObjectReferenceFactory`).
pub trait ObjectReferenceFactory: Send + Sync + 'static {
    /// The reference to the object with that id, which need not be active.
    ///
    /// # Errors
    /// OBJECT_NOT_EXIST if the adapter was destroyed; the exceptions of listening.
    fn make_object(&self, repository_id: &str, object_id: &[u8]) -> Result<Ior, SystemException>;
}

/// Template of an adapter's references (`PortableInterceptor::ObjectReferenceTemplate`): it makes
/// references with the adapter's profiles, components and keys.
#[derive(Clone)]
pub struct ObjectReferenceTemplate {
    identity: Arc<OrbIdentity>,
    adapter_name: Arc<[String]>,
    factory: Arc<dyn ObjectReferenceFactory>,
}

impl ObjectReferenceTemplate {
    /// The template of the adapter with that path below the root of an ORB: `factory` makes its
    /// references.
    #[must_use]
    pub fn new(
        identity: Arc<OrbIdentity>,
        path: &[String],
        factory: Arc<dyn ObjectReferenceFactory>,
    ) -> Self {
        Self {
            identity,
            adapter_name: names_of(path).into(),
            factory,
        }
    }

    /// The name of the server ([`OrbIdentity::server_id`]).
    #[must_use]
    pub fn server_id(&self) -> &str {
        &self.identity.server_id
    }

    /// The name of the ORB ([`OrbIdentity::orb_id`]).
    #[must_use]
    pub fn orb_id(&self) -> &str {
        &self.identity.orb_id
    }

    /// The names of the adapter and its ancestors, `RootPOA` first.
    #[must_use]
    pub fn adapter_name(&self) -> &[String] {
        &self.adapter_name
    }
}

impl ObjectReferenceFactory for ObjectReferenceTemplate {
    fn make_object(&self, repository_id: &str, object_id: &[u8]) -> Result<Ior, SystemException> {
        self.factory.make_object(repository_id, object_id)
    }
}

impl fmt::Debug for ObjectReferenceTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ObjectReferenceTemplate")
            .field(&self.adapter_name)
            .finish()
    }
}

/// Factory that makes all references of an adapter instead of its template.
#[derive(Clone)]
pub struct CurrentFactory(pub(crate) Arc<dyn ObjectReferenceFactory>);

impl CurrentFactory {
    /// The reference to the object with that id.
    ///
    /// # Errors
    /// The exceptions of the factory; UNKNOWN if it panics; OBJ_ADAPTER if it makes a nil
    /// reference.
    pub fn make_object(
        &self,
        repository_id: &str,
        object_id: &[u8],
    ) -> Result<Ior, SystemException> {
        let make = AssertUnwindSafe(|| self.0.make_object(repository_id, object_id));
        let made = catch_unwind(make).unwrap_or_else(|_| {
            error!(target: "orbium::poa", interface = repository_id, "reference factory panicked");
            Err(panicked(Completion::No))
        })?;
        if made.is_nil() {
            Err(ExceptionKind::ObjAdapter.into())
        } else {
            Ok(made)
        }
    }
}

impl fmt::Debug for CurrentFactory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CurrentFactory").finish_non_exhaustive()
    }
}

/// The names of an adapter and its ancestors, `RootPOA` first.
pub(crate) fn names_of(path: &[String]) -> Vec<String> {
    let root = std::iter::once("RootPOA".to_owned());
    root.chain(path.iter().cloned()).collect()
}
