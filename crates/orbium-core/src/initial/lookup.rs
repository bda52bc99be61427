// SPDX-License-Identifier: MIT OR Apache-2.0
//! Resolution of an object URL or the name of an initial reference.

use std::time::SystemTime;

use orbium_giop::{Corbaloc, ObjectUrl};

use super::naming;
use crate::client::object_url;
use crate::names::{Name, NameError};
use crate::{InvalidName, ObjectError, ObjectRef, Orb, TimePolicies};

/// Limit of the initial references in one lookup. A prefix such as `corbaloc:rir:/a` makes a new
/// name of every name.
const MAX_REDIRECTIONS: usize = 16;

/// A lookup in progress: initial references may lead to others, and names to contexts that are
/// resolved in turn.
pub(super) struct Lookup<'o> {
    orb: &'o Orb,
    /// The initial references visited so far.
    through: Vec<String>,
    /// The deadline of the whole lookup, set by its first call.
    end: Option<SystemTime>,
}

impl<'o> Lookup<'o> {
    pub(super) fn new(orb: &'o Orb) -> Self {
        Self {
            orb,
            through: Vec::new(),
            end: None,
        }
    }

    /// The reference of a URL; `None` is nil.
    pub(super) fn object(&mut self, url: ObjectUrl) -> Result<Option<ObjectRef>, ObjectError> {
        let ior = match url {
            ObjectUrl::Ior(ior) => ior,
            ObjectUrl::Corbaloc(corbaloc) => return self.located(&corbaloc).map(Some),
            ObjectUrl::Corbaname(named) => {
                let context = self.located(&named.context)?;
                if named.name.is_empty() {
                    return Ok(Some(context));
                }
                return self.named(&context, &named.name);
            }
        };
        Ok((!ior.is_nil()).then(|| self.orb.plain_reference(ior)))
    }

    fn located(&mut self, corbaloc: &Corbaloc) -> Result<ObjectRef, ObjectError> {
        match corbaloc.initial_reference() {
            Some(name) => Ok(self.initial(name)?),
            None => Ok(self.orb.plain_reference(corbaloc.to_ior()?)),
        }
    }

    /// The initial reference of a name.
    pub(super) fn initial(&mut self, name: &str) -> Result<ObjectRef, InvalidName> {
        if let Some(object) = self.orb.core().initial.get(self.orb, name) {
            return Ok(object);
        }
        let invalid = || InvalidName::new(name);
        let because = |why| InvalidName::because(name, why);
        let url = self.orb.configured_reference(name).ok_or_else(invalid)?;
        if self.through.len() == MAX_REDIRECTIONS || self.through.iter().any(|it| it == name) {
            return Err(because(ObjectError::Circular(self.through.clone())));
        }
        self.through.push(name.to_owned());
        let url = object_url(&url).map_err(because)?;
        let object = self.object(url).map_err(because)?;
        self.through.pop();
        object.ok_or_else(invalid)
    }

    /// Resolves a name in a naming context.
    fn named(&mut self, context: &ObjectRef, name: &str) -> Result<Option<ObjectRef>, ObjectError> {
        let name: Name = name
            .parse()
            .map_err(|error| ObjectError::Naming(NameError::Syntax(error)))?;
        let most = self.orb.config().naming_timeout.0;
        // `None` for a time beyond the range of the clock.
        let end = self.end.or_else(|| SystemTime::now().checked_add(most));
        self.end = end;
        // Policies of the ORB and the thread apply, too.
        let context = context.with_time_policies(TimePolicies {
            reply_end: end,
            ..TimePolicies::NONE
        });
        naming::resolve(&context, &name).map_err(ObjectError::Naming)
    }
}
