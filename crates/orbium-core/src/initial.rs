// SPDX-License-Identifier: MIT OR Apache-2.0
//! Object strings and initial references (CORBA 3.3 Part 1, clause 8.5).

mod error;
pub(crate) mod file;

use std::sync::{Arc, Mutex, PoisonError};

use orbium_giop::{Completion, Corbaloc, ExceptionKind, Ior, ObjectUrl, SystemException, minor};

use crate::client::Overrides;
use crate::{Interface, ObjectRef, Orb};

pub use error::{InvalidName, ObjectError};

/// What is never anywhere else, whatever the prefix for unknown names is.
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

/// By name, in alphabetical order; there are few.
#[derive(Debug, Default)]
pub(crate) struct InitialReferences(Mutex<Vec<(String, ObjectRef)>>);

impl InitialReferences {
    #[inline]
    pub(crate) fn clear(&self) {
        let all = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        drop(all);
    }
}

/// The URL that a text is, or that the file holds which it names.
fn url_of(text: &str) -> Result<ObjectUrl, ObjectError> {
    match file::read(text)? {
        Some(url) => Ok(url),
        None => Ok(ObjectUrl::parse(text)?),
    }
}

impl Orb {
    /// The reference as a string, `IOR:…`.
    #[must_use]
    pub fn object_to_string(&self, object: &impl Interface) -> String {
        object.as_object().ior().to_string()
    }

    /// The reference that a string names: `IOR:`, `corbaloc:`, or a `file://` URL of a
    /// file that holds one of these. Contacts no server. `None` is the nil reference.
    ///
    /// # Errors
    /// [`ObjectError`]. A `corbaname:` needs a naming service client and is
    /// refused as such.
    pub fn string_to_object(&self, text: &str) -> Result<Option<ObjectRef>, ObjectError> {
        self.object_at(url_of(text)?)
    }

    fn object_at(&self, url: ObjectUrl) -> Result<Option<ObjectRef>, ObjectError> {
        let ior = match url {
            ObjectUrl::Ior(ior) => ior,
            ObjectUrl::Corbaloc(corbaloc) => match corbaloc.initial_reference() {
                Some(name) => return self.resolve_as_object(name),
                None => corbaloc.to_ior()?,
            },
            ObjectUrl::Corbaname(name) => return self.resolve_corbaname(&name.context, &name.name),
        };
        if ior.is_nil() {
            return Ok(None);
        }
        Ok(Some(self.plain_reference(ior)))
    }

    fn resolve_corbaname(
        &self,
        context: &Corbaloc,
        name: &str,
    ) -> Result<Option<ObjectRef>, ObjectError> {
        if !name.is_empty() {
            // Names inside a context are the naming service's affair.
            return Err(ObjectError::Naming(SystemException::orbium(
                ExceptionKind::NoImplement,
                minor::NO_NAMING,
                Completion::No,
            )));
        }
        match context.initial_reference() {
            Some(name) => self.resolve_as_object(name),
            None => Ok(Some(self.plain_reference(context.to_ior()?))),
        }
    }

    fn resolve_as_object(&self, name: &str) -> Result<Option<ObjectRef>, ObjectError> {
        match self.resolve_initial_references(name) {
            Ok(object) => Ok(Some(object)),
            Err(invalid) => Err(ObjectError::Unknown(invalid)),
        }
    }

    /// The reference that an IOR is, without policies of its own.
    #[must_use]
    pub fn plain_reference(&self, ior: Ior) -> ObjectRef {
        ObjectRef::new(self.clone(), Arc::new(ior), Overrides::default())
    }

    /// The reference registered under a name; or else the one that the
    /// configuration has for it, or for all names.
    ///
    /// # Errors
    /// [`InvalidName`].
    pub fn resolve_initial_references(&self, name: &str) -> Result<ObjectRef, InvalidName> {
        {
            let references = self
                .core()
                .initial
                .0
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            for (known, object) in references.iter() {
                if known == name {
                    return Ok(object.clone());
                }
            }
        }
        let invalid = || InvalidName::new(name);
        let because = |why| InvalidName::because(name, why);
        let url = self.configured_reference(name).ok_or_else(invalid)?;
        let url = url_of(&url).map_err(because)?;
        // One that leads to initial references might lead to itself.
        let initial = match &url {
            ObjectUrl::Ior(_) => None,
            ObjectUrl::Corbaloc(at) => at.initial_reference(),
            ObjectUrl::Corbaname(at) => at.context.initial_reference(),
        };
        if initial.is_some() {
            return Err(invalid());
        }
        let object = self.object_at(url).map_err(because)?;
        object.ok_or_else(invalid)
    }

    /// The object URL that the configuration has for a name (CORBA 3.3 Part 1,
    /// clause 8.5.2).
    fn configured_reference(&self, name: &str) -> Option<String> {
        let config = self.config();
        // The last one counts, as of all settings.
        for (known, url) in config.initial_references.iter().rev() {
            if known == name {
                return Some(url.clone());
            }
        }
        if LOCAL.contains(&name) || name.is_empty() {
            return None;
        }
        let prefix = config.default_initial_reference.as_ref()?;
        Some(format!("{prefix}/{name}"))
    }

    /// Registers a reference under a name.
    ///
    /// # Errors
    /// [`InvalidName`] for a name that is empty or taken.
    pub fn register_initial_reference(
        &self,
        name: &str,
        object: &impl Interface,
    ) -> Result<(), InvalidName> {
        let mut references = self
            .core()
            .initial
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let place = references.partition_point(|(known, _)| known.as_str() < name);
        let taken = references
            .get(place)
            .is_some_and(|(known, _)| known == name);
        if name.is_empty() || taken {
            return Err(InvalidName::new(name));
        }
        references.insert(place, (name.to_owned(), object.as_object().clone()));
        Ok(())
    }

    /// The names under which references are registered or configured.
    #[must_use]
    #[inline]
    pub fn list_initial_services(&self) -> Vec<String> {
        let references = self
            .core()
            .initial
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
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
