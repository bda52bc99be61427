// SPDX-License-Identifier: MIT OR Apache-2.0
//! Object strings and initial references (CORBA 3.3 Part 1, clause 8.5).

mod lookup;
mod naming;
mod repository;

use std::sync::Arc;

use orbium_giop::Ior;
use orbium_sync::lock::Mutex;

use crate::client::{Overrides, object_url};
use crate::{Interface, InvalidName, ObjectError, ObjectRef, Orb};

use lookup::Lookup;

/// Names of local objects, which the prefix for unknown names does not apply to.
const LOCAL: [&str; 9] = [
    "RootPOA",
    "POACurrent",
    "RTORB",
    "RTCurrent",
    "PICurrent",
    "CodecFactory",
    "DynAnyFactory",
    "ORBPolicyManager",
    "PolicyCurrent",
];

/// The references by name, in alphabetical order; there are few.
#[derive(Debug, Default)]
pub(crate) struct InitialReferences(Mutex<Vec<(String, Registered)>>);

/// A registered reference. One of the same ORB would keep the ORB alive, so its parts are stored.
#[derive(Debug)]
enum Registered {
    Own(Arc<Ior>, Box<Overrides>),
    OfAnother(ObjectRef),
}

impl InitialReferences {
    pub(crate) fn clear(&self) {
        let all = std::mem::take(&mut *self.0.lock());
        drop(all);
    }

    /// The reference registered under a name.
    fn get(&self, orb: &Orb, name: &str) -> Option<ObjectRef> {
        let references = self.0.lock();
        let (_, registered) = references.iter().find(|(known, _)| known == name)?;
        Some(match registered {
            Registered::OfAnother(object) => object.clone(),
            Registered::Own(ior, own) => {
                ObjectRef::new(orb.clone(), Arc::clone(ior), Overrides::clone(own))
            }
        })
    }
}

impl Orb {
    /// The reference as a string, `IOR:…`.
    #[must_use]
    pub fn object_to_string(&self, object: &impl Interface) -> String {
        object.as_object().ior().to_string()
    }

    /// The reference for a string: `IOR:`, `corbaloc:`, `corbaname:`, or a `file://` URL of a file
    /// with one of these. `None` is the nil reference.
    ///
    /// Contacts no server, except for a `corbaname:` with a name: its naming context resolves it,
    /// within [`Config::naming_timeout`](crate::Config).
    ///
    /// # Errors
    /// [`ObjectError`].
    pub fn string_to_object(&self, text: &str) -> Result<Option<ObjectRef>, ObjectError> {
        Lookup::new(self).object(object_url(text)?)
    }

    /// The reference with an IOR, without overrides of policies.
    #[must_use]
    pub fn plain_reference(&self, ior: Ior) -> ObjectRef {
        ObjectRef::new(self.clone(), Arc::new(ior), Overrides::default())
    }

    /// The reference registered under a name; or else the configured one for it, or for all names.
    /// A `corbaname:` is resolved each time, as by [`string_to_object`](Self::string_to_object).
    ///
    /// # Errors
    /// [`InvalidName`].
    pub fn resolve_initial_references(&self, name: &str) -> Result<ObjectRef, InvalidName> {
        Lookup::new(self).initial(name)
    }

    /// The configured object URL of a name (CORBA 3.3 Part 1, clause 8.5.2).
    fn configured_reference(&self, name: &str) -> Option<String> {
        let config = self.config();
        // The last entry takes precedence, as with all settings.
        for (known, url) in config.initial_references.iter().rev() {
            if known == name {
                return Some(url.clone());
            }
        }
        if LOCAL.contains(&name) || name.is_empty() {
            return None;
        }
        let prefix = config.default_initial_reference.as_ref()?;
        // Names begin without a slash: none is inserted after the bare `#` of a `corbaname:`.
        let slash = if prefix.ends_with('#') { "" } else { "/" };
        Some(format!("{prefix}{slash}{name}"))
    }

    /// Registers a reference under a name.
    ///
    /// # Errors
    /// [`InvalidName`] for a name that is empty or taken; for a nil reference because of
    /// [`ObjectError::Nil`], with the [exception](ObjectError::exception) BAD_PARAM 27.
    pub fn register_initial_reference(
        &self,
        name: &str,
        object: &impl Interface,
    ) -> Result<(), InvalidName> {
        let object = object.as_object();
        if object.ior().is_nil() {
            return Err(InvalidName::because(name, ObjectError::Nil));
        }
        let mut references = self.core().initial.0.lock();
        let place = references.partition_point(|(known, _)| known.as_str() < name);
        let taken = references
            .get(place)
            .is_some_and(|(known, _)| known == name);
        if name.is_empty() || taken {
            return Err(InvalidName::new(name));
        }
        let registered = if object.orb() == self {
            Registered::Own(
                Arc::clone(object.0.ior()),
                Box::new(object.overrides().clone()),
            )
        } else {
            Registered::OfAnother(object.clone())
        };
        references.insert(place, (name.to_owned(), registered));
        Ok(())
    }

    /// The names under which references are registered or configured.
    #[must_use]
    pub fn list_initial_services(&self) -> Vec<String> {
        let references = self.core().initial.0.lock();
        let mut names: Vec<String> = Vec::new();
        let mut add = |name: &String| {
            if let Err(place) = names.binary_search(name) {
                names.insert(place, name.clone());
            }
        };
        for (name, _) in references.iter() {
            add(name);
        }
        for (name, _) in &self.config().initial_references {
            add(name);
        }
        names
    }
}
