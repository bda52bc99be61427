// SPDX-License-Identifier: MIT OR Apache-2.0
//! Naming contexts.

use orbium::{
    Interface, ObjectRef, Orb,
    policy::TimePolicies,
    reference::{AnyReference, NarrowError, ResolveError, nil_reference},
};

use crate::as_name::to_idl;
use crate::cos_naming;
use crate::{AsName, Bindings, NamingError};

/// Default number of bindings of one batch.
const BATCH: u32 = 100;

/// A reference to a naming context.
///
/// Every call has a deadline. If neither the reference nor the ORB has one
/// (`Config::call_timeout`), it is `Config::naming_timeout`, 30 s by default. Contexts that calls
/// return have the time policies of the called context.
#[derive(Clone, Debug, PartialEq)]
pub struct NamingContext(cos_naming::NamingContext);

impl Interface for NamingContext {
    const REPOSITORY_ID: &'static str = cos_naming::NamingContext::REPOSITORY_ID;
    const BASES: &'static [&'static str] = cos_naming::NamingContext::BASES;

    fn from_object(object: ObjectRef) -> Self {
        Self(Interface::from_object(bounded(object)))
    }

    fn as_object(&self) -> &ObjectRef {
        self.0.as_object()
    }
}

impl From<cos_naming::NamingContext> for NamingContext {
    fn from(context: cos_naming::NamingContext) -> Self {
        Self::from_object(context.into())
    }
}

/// The object, with a time-out of its calls.
fn bounded(object: ObjectRef) -> ObjectRef {
    let config = object.orb().config();
    let times = object.time_policies();
    if times.roundtrip_timeout.or(config.call_timeout).is_some() {
        return object;
    }
    let most = config.naming_timeout.0;
    object.with_timeout(most)
}

impl NamingContext {
    /// The initial reference `NameService`.
    ///
    /// # Errors
    /// [`ResolveError`].
    pub fn root(orb: &Orb) -> Result<Self, ResolveError> {
        Self::at(orb, "corbaloc:rir:/NameService")
    }

    /// The naming context of an object URL.
    ///
    /// # Errors
    /// [`ResolveError`].
    pub fn at(orb: &Orb, url: &str) -> Result<Self, ResolveError> {
        let found = orb.string_to_object(url);
        let object = found.map_err(|error| ResolveError::Reference {
            text: url.to_owned(),
            error,
        })?;
        let narrowed = object.ok_or(NarrowError::Nil);
        let narrowed = narrowed.and_then(|object| bounded(object).narrow());
        narrowed.map_err(|error| ResolveError::Interface {
            text: url.to_owned(),
            interface: Self::REPOSITORY_ID,
            error,
        })
    }

    /// Another context, with the time policies of this one.
    fn adopt(&self, other: &Self) -> Self {
        other.with_time_policies(self.times())
    }

    fn times(&self) -> TimePolicies {
        self.as_object().time_policies()
    }

    fn made(&self, context: Option<cos_naming::NamingContext>) -> Result<Self, NamingError> {
        let context = context.ok_or_else(nil_reference)?;
        Ok(Self(context.with_time_policies(self.times())))
    }

    /// The result of an operation, with the time policies of this context in its error.
    fn checked<T, E: Into<NamingError>>(&self, result: Result<T, E>) -> Result<T, NamingError> {
        result.map_err(|error| error.into().with_times(self.times()))
    }

    /// Binds a name to an object, or to nil. A context bound this way is an ordinary object: names
    /// are not resolved through it.
    ///
    /// # Errors
    /// [`NamingError`]: NotFound, CannotProceed, InvalidName, AlreadyBound.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "it is a reference, or an option of one"
    )]
    pub fn bind(&self, name: impl AsName, object: impl AnyReference) -> Result<(), NamingError> {
        self.checked(self.0.bind(&to_idl(name)?, object.untyped()))
    }

    /// Binds a name to an object, and replaces the previous object.
    ///
    /// # Errors
    /// [`NamingError`]: NotFound (with `NotObject` for a name that is bound to a context),
    /// CannotProceed, InvalidName.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "it is a reference, or an option of one"
    )]
    pub fn rebind(&self, name: impl AsName, object: impl AnyReference) -> Result<(), NamingError> {
        self.checked(self.0.rebind(&to_idl(name)?, object.untyped()))
    }

    /// Binds a name to a context, so that names are resolved through it.
    ///
    /// # Errors
    /// [`NamingError`]: NotFound, CannotProceed, InvalidName, AlreadyBound.
    pub fn bind_context(&self, name: impl AsName, context: &Self) -> Result<(), NamingError> {
        self.checked(self.0.bind_context(&to_idl(name)?, Some(&context.0)))
    }

    /// Binds a name to a context, and replaces the previous context.
    ///
    /// # Errors
    /// [`NamingError`]: NotFound (with `NotContext` for a name that is bound to an object),
    /// CannotProceed, InvalidName.
    pub fn rebind_context(&self, name: impl AsName, context: &Self) -> Result<(), NamingError> {
        self.checked(self.0.rebind_context(&to_idl(name)?, Some(&context.0)))
    }

    /// Creates a context in the same server and binds it to a name.
    ///
    /// # Errors
    /// [`NamingError`]: NotFound, CannotProceed, InvalidName, AlreadyBound.
    pub fn bind_new_context(&self, name: impl AsName) -> Result<Self, NamingError> {
        let made = self.checked(self.0.bind_new_context(&to_idl(name)?))?;
        self.made(made)
    }

    /// Creates a context in the same server, bound to no name.
    ///
    /// # Errors
    /// [`NamingError`]: a system exception.
    pub fn new_context(&self) -> Result<Self, NamingError> {
        let made = self.checked(self.0.new_context())?;
        self.made(made)
    }

    /// The object bound to a name; `None` is nil.
    ///
    /// # Errors
    /// [`NamingError`]: NotFound, CannotProceed, InvalidName.
    pub fn resolve(&self, name: impl AsName) -> Result<Option<ObjectRef>, NamingError> {
        self.checked(self.0.resolve(&to_idl(name)?))
    }

    /// The object bound to a name, as interface `T`. If the reference does not contain its
    /// interface the object is called, with the time-out of calls of this context.
    ///
    /// # Errors
    /// [`NamingError`]: NotFound, CannotProceed, InvalidName, Narrow.
    pub fn resolve_as<T: Interface>(&self, name: impl AsName) -> Result<T, NamingError> {
        let object = self.resolve(name)?.ok_or(NarrowError::Nil)?;
        let asked = object.with_time_policies(self.times());
        if asked.is_a(T::REPOSITORY_ID).map_err(NarrowError::System)? {
            Ok(T::from_object(object))
        } else {
            Err(NarrowError::WrongType.into())
        }
    }

    /// The context bound to a name.
    ///
    /// # Errors
    /// As [`resolve_as`](Self::resolve_as).
    pub fn resolve_context(&self, name: impl AsName) -> Result<Self, NamingError> {
        self.resolve_as(name).map(|context| self.adopt(&context))
    }

    /// Unbinds a name. The bound object or context is unchanged.
    ///
    /// # Errors
    /// [`NamingError`]: NotFound, CannotProceed, InvalidName.
    pub fn unbind(&self, name: impl AsName) -> Result<(), NamingError> {
        self.checked(self.0.unbind(&to_idl(name)?))
    }

    /// Destroys this context, which must be empty. Names bound to it remain bound.
    ///
    /// # Errors
    /// [`NamingError`]: NotEmpty.
    pub fn destroy(&self) -> Result<(), NamingError> {
        self.checked(self.0.destroy())
    }

    /// The bindings of this context, requested in batches of a hundred.
    ///
    /// # Errors
    /// [`NamingError`]: a system exception.
    pub fn list(&self) -> Result<Bindings, NamingError> {
        self.list_by(BATCH)
    }

    /// The bindings of this context, requested in batches of that many, at least one.
    ///
    /// # Errors
    /// [`NamingError`]: a system exception.
    pub fn list_by(&self, size: u32) -> Result<Bindings, NamingError> {
        let size = size.max(1);
        let listed = self.checked(self.0.list(size))?;
        Ok(Bindings::new(listed, size, self.times()))
    }
}
