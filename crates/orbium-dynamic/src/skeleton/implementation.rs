// SPDX-License-Identifier: MIT OR Apache-2.0
//! Dynamic implementations, and the skeleton around them.

use std::borrow::Cow;
use std::sync::Arc;

use orbium_cdr::CdrReader;
use orbium_core::{
    Call, DeferredReply, DispatchError, IncarnatedObject, Servant, SystemException, UntypedReply,
};
use orbium_interceptor::Interrupt;

use super::interception::Upcall;
use super::server_request::ServerRequest;
use crate::operations::interned;

/// Servant that accepts any operation of any interface (`PortableServer::DynamicImplementation`).
pub trait DynamicImplementation: Send + Sync + 'static {
    /// Repository id of the most derived interface.
    fn primary_interface(&self) -> String;

    /// Whether the object has that interface: the primary one or a base.
    fn is_a(&self, repository_id: &str) -> bool {
        self.primary_interface() == repository_id
    }

    /// Repository id of the most derived interface of one of its objects (`_primary_interface`): a
    /// default servant, or one from a locator, may incarnate objects of several interfaces.
    /// Default: that of all, [`primary_interface`](Self::primary_interface).
    fn primary_interface_of(&self, object: &IncarnatedObject<'_>) -> String {
        let _ = object;
        self.primary_interface()
    }

    /// Whether one of its objects has that interface: its primary one or a base. Default: as
    /// [`is_a`](Self::is_a) for objects of the common interface, others have only their primary
    /// one.
    fn object_is_a(&self, object: &IncarnatedObject<'_>, repository_id: &str) -> bool {
        let own = self.primary_interface_of(object);
        own == repository_id || (own == self.primary_interface() && self.is_a(repository_id))
    }

    /// Serves a request: reads its arguments, and sets a result or an exception. Without either the
    /// result is void. Not called for the operations that every object has.
    ///
    /// # Errors
    /// A system exception, which the caller gets.
    fn invoke(&self, request: &mut ServerRequest<'_, '_>) -> Result<(), SystemException>;
}

/// A servant for [`Poa::activate_servant`](orbium_core::Poa::activate_servant) from a dynamic
/// implementation.
///
/// ```
/// use orbium_cdr::{Any, Type};
/// use orbium_core::{Orb, SystemException};
/// use orbium_dynamic::{
///     Direction, DynamicImplementation, Parameter, Request, ServerRequest, dynamic_servant,
/// };
///
/// struct Doubler;
///
/// impl DynamicImplementation for Doubler {
///     fn primary_interface(&self) -> String {
///         "IDL:Doubler:1.0".to_owned()
///     }
///
///     fn invoke(&self, request: &mut ServerRequest<'_, '_>) -> Result<(), SystemException> {
///         let value = Parameter {
///             name: "value".to_owned(),
///             direction: Direction::In,
///             code: Type::LONG.into(),
///         };
///         let arguments = request.arguments(&[value])?;
///         let value: i32 = arguments[0].value().extract()?;
///         request.set_result(Any::from(value * 2))
///     }
/// }
///
/// let orb = Orb::builder().build()?;
/// let object = orb.root_poa().activate_servant(&dynamic_servant(Doubler)?)?;
/// orb.root_poa().manager().activate()?;
///
/// let mut request = Request::new(&object, "twice")?;
/// request.add_in("value", Any::from(21))?;
/// request.set_return_type(Type::LONG)?;
/// request.invoke()?;
/// assert_eq!(request.return_value().extract::<i32>()?, 42);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// IMP_LIMIT: the id of the interface is too long, or the process has too many different ones.
pub fn dynamic_servant(
    implementation: impl DynamicImplementation,
) -> Result<Arc<dyn Servant>, SystemException> {
    let repository_id = interned(&implementation.primary_interface())?;
    Ok(Arc::new(Skeleton {
        implementation,
        repository_id,
    }))
}

/// A request, and its reply until the servant has returned.
struct Replying<'c, 'r, 'p> {
    call: &'c Call<'c>,
    reply: &'r mut UntypedReply<'p>,
}

impl Upcall for Replying<'_, '_, '_> {
    fn defer(&mut self) -> Result<DeferredReply<()>, DispatchError> {
        self.call.defer(self.reply, |(), _| {})
    }

    fn receive_request(&mut self) -> Result<(), Interrupt> {
        self.call.show(self.reply)
    }
}

/// The skeleton around a dynamic implementation.
struct Skeleton<D> {
    implementation: D,
    repository_id: &'static str,
}

impl<D: DynamicImplementation> Servant for Skeleton<D> {
    fn repository_id(&self) -> &'static str {
        self.repository_id
    }

    fn is_a(&self, repository_id: &str) -> bool {
        self.implementation.is_a(repository_id)
    }

    fn interface_of(&self, object: &IncarnatedObject<'_>) -> Cow<'_, str> {
        Cow::Owned(self.implementation.primary_interface_of(object))
    }

    fn object_is_a(&self, object: &IncarnatedObject<'_>, repository_id: &str) -> bool {
        self.implementation.object_is_a(object, repository_id)
    }

    fn dispatch(
        &self,
        call: &Call<'_>,
        arguments: &mut CdrReader<'_>,
        reply: &mut UntypedReply<'_>,
    ) -> Result<(), DispatchError> {
        let mut upcall = Replying { call, reply };
        let mut request = ServerRequest::new(call, arguments, &mut upcall);
        let invoked = self.implementation.invoke(&mut request);
        match request.ended(invoked) {
            Ok(Some(answer)) => answer.give(reply),
            Ok(None) => Ok(()),
            Err(Interrupt::Raise(exception)) => Err(exception.into()),
            Err(Interrupt::Forward(to)) => reply.forward(&to, false),
        }
    }

    fn shows_requests(&self) -> bool {
        true
    }
}
