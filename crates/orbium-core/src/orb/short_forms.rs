// SPDX-License-Identifier: MIT OR Apache-2.0
//! The two calls that most programs start with: serving an object, resolving an object.

use orbium_invocation::ResolveError;

use super::Orb;
use crate::servant::ServedBy;
use crate::{Interface, NarrowError, PoaError};

impl Orb {
    /// Serves an object: activates the servant in the root POA, makes it reachable under a plain
    /// key, as in `corbaloc::host:port/Greeter`, and activates the root POA's manager. It replaces
    /// another object with the same key.
    ///
    /// ```no_run
    /// # fn serve<G: orbium_core::ServedBy<S>, S>(orb: orbium_core::Orb, polite: S)
    /// # -> Result<(), Box<dyn std::error::Error>> {
    /// let greeter: G = orb.serve("Greeter", polite)?;
    /// println!("{}", orb.object_to_string(&greeter));
    /// orb.run()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`PoaError::AdapterInactive`] when the manager was deactivated; a system
    /// exception when the ORB cannot listen or was shut down.
    pub fn serve<I: ServedBy<S>, S>(&self, key: &str, servant: S) -> Result<I, PoaError> {
        let root = self.root_poa();
        let object: I = root.activate(servant)?;
        // Bound before requests are accepted: a client that reaches the server also
        // reaches the object.
        self.bind_key(key, &object)?;
        root.manager().activate()?;
        Ok(object)
    }

    /// The object with a text form, as interface `I`: `corbaloc:…`, `IOR:…`, or `file://…` for a
    /// file with one of these. If the reference does not contain its interface, as with `corbaloc`,
    /// the object is queried.
    ///
    /// ```no_run
    /// # fn call<Greeter: orbium_core::Interface>(orb: orbium_core::Orb)
    /// # -> Result<(), Box<dyn std::error::Error>> {
    /// let greeter: Greeter = orb.resolve("corbaloc::localhost:5000/Greeter")?;
    /// # drop(greeter);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ResolveError`].
    pub fn resolve<I: Interface>(&self, text: &str) -> Result<I, ResolveError> {
        let object = self
            .string_to_object(text)
            .map_err(|error| ResolveError::Reference {
                text: text.to_owned(),
                error,
            })?;
        let narrowed = object
            .ok_or(NarrowError::Nil)
            .and_then(|object| object.narrow());
        narrowed.map_err(|error| ResolveError::Interface {
            text: text.to_owned(),
            interface: I::REPOSITORY_ID,
            error,
        })
    }
}
