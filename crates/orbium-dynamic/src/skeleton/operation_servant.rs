// SPDX-License-Identifier: MIT OR Apache-2.0
//! Servants with a table of operations that is built at run time.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use orbium_core::{Completion, ExceptionKind, Servant, SystemException};

use super::implementation::{DynamicImplementation, dynamic_servant};
use super::server_request::ServerRequest;
use crate::signature::Signature;

/// Serves a request of one operation, after its arguments were read.
type Serve = dyn Fn(&mut ServerRequest<'_, '_>) -> Result<(), SystemException> + Send + Sync;

/// A [`DynamicImplementation`] with a table of operations that is built at run time: each is a
/// [`Signature`] and a closure.
///
/// A closure receives its request with the arguments [read](ServerRequest::read_arguments). It may
/// set a result, exceptions and forwards, and [defer](ServerRequest::defer) the request. These are
/// checked against the signature. An operation that is not in the table raises BAD_OPERATION 2.
///
/// ```
/// use orbium_cdr::{Any, Type};
/// use orbium_core::Orb;
/// use orbium_dynamic::{DynamicServant, Request, Signature};
///
/// let twice = Signature::new("twice")
///     .with_in("value", Type::LONG)
///     .returning(Type::LONG);
/// let servant = DynamicServant::builder("IDL:Doubler:1.0")
///     .operation(twice, |request| {
///         let value: i32 = request.read_arguments()[0].value().extract()?;
///         request.set_result(Any::from(value * 2))
///     })
///     .build()?;
///
/// let orb = Orb::builder().build()?;
/// let object = orb.root_poa().activate_servant(&servant)?;
/// orb.root_poa().manager().activate()?;
///
/// let mut request = Request::new(&object, "twice")?;
/// request.add_in("value", Any::from(21))?;
/// request.set_return_type(Type::LONG)?;
/// request.invoke()?;
/// assert_eq!(request.return_value().extract::<i32>()?, 42);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct DynamicServant {
    interface: String,
    bases: Vec<String>,
    /// By their names on the wire.
    operations: HashMap<String, Operation>,
}

struct Operation {
    signature: Arc<Signature>,
    serve: Box<Serve>,
}

impl DynamicServant {
    /// A builder for the interface with that repository id, without operations.
    pub fn builder(interface: &str) -> DynamicServantBuilder {
        DynamicServantBuilder(Self {
            interface: interface.to_owned(),
            bases: Vec::new(),
            operations: HashMap::new(),
        })
    }
}

impl DynamicImplementation for DynamicServant {
    fn primary_interface(&self) -> String {
        self.interface.clone()
    }

    fn is_a(&self, repository_id: &str) -> bool {
        self.interface == repository_id || self.bases.iter().any(|base| base == repository_id)
    }

    fn invoke(&self, request: &mut ServerRequest<'_, '_>) -> Result<(), SystemException> {
        let operation = self.operations.get(&*request.operation());
        let operation = operation
            .ok_or_else(|| SystemException::omg(ExceptionKind::BadOperation, 2, Completion::No))?;
        request.arguments_of(&operation.signature)?;
        (operation.serve)(request)
    }
}

/// Builds a [`DynamicServant`].
#[must_use]
pub struct DynamicServantBuilder(DynamicServant);

impl DynamicServantBuilder {
    /// Adds the repository id of a base, however far it is.
    pub fn base(mut self, repository_id: &str) -> Self {
        self.0.bases.push(repository_id.to_owned());
        self
    }

    /// Adds an operation, or one half of an attribute. One of the same name on the wire is
    /// replaced.
    pub fn operation(
        mut self,
        signature: Signature,
        serve: impl Fn(&mut ServerRequest<'_, '_>) -> Result<(), SystemException>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        let operation = Operation {
            signature: Arc::new(signature),
            serve: Box::new(serve),
        };
        let name = operation.signature.wire_name.clone();
        self.0.operations.insert(name, operation);
        self
    }

    /// The servant, for [`Poa::activate_servant`](orbium_core::Poa::activate_servant).
    ///
    /// # Errors
    /// As [`dynamic_servant`].
    pub fn build(self) -> Result<Arc<dyn Servant>, SystemException> {
        dynamic_servant(self.0)
    }
}

impl fmt::Debug for DynamicServant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut operations: Vec<_> = self.operations.keys().collect();
        operations.sort_unstable();
        f.debug_struct("DynamicServant")
            .field("interface", &self.interface)
            .field("bases", &self.bases)
            .field("operations", &operations)
            .finish()
    }
}

impl fmt::Debug for DynamicServantBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}
