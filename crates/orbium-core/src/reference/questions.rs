// SPDX-License-Identifier: MIT OR Apache-2.0
//! Implicit operations of every object: CORBA 3.3 Part 1, clause 8.3.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use orbium_cdr::{CdrError, CdrReader, CdrWriter, Decode};
use orbium_giop::{ExceptionKind, SystemException};
use orbium_invocation::NarrowError;

use super::{Interface, ObjectRef};
use crate::{OBJECT_REPOSITORY_ID, Operation, client};

impl ObjectRef {
    /// The reference typed by interface `I`, if the object implements it. Queries the object only
    /// if the reference does not contain the answer.
    ///
    /// # Errors
    /// [`NarrowError::WrongType`], [`NarrowError::System`].
    pub fn narrow<I: Interface>(&self) -> Result<I, NarrowError> {
        if self.is_a(I::REPOSITORY_ID)? {
            Ok(I::from_object(self.clone()))
        } else {
            Err(NarrowError::WrongType)
        }
    }

    /// Whether the object implements an interface.
    ///
    /// # Errors
    /// The object could not be queried.
    pub fn is_a(&self, repository_id: &str) -> Result<bool, SystemException> {
        static IS_A: Operation = Operation::new("_is_a").idempotent();
        if repository_id == self.ior().type_id || repository_id == OBJECT_REPOSITORY_ID {
            return Ok(true);
        }
        let mut is_a = false;
        self.ask(&IS_A, Some(repository_id), &mut |reader| {
            is_a = bool::decode(reader)?;
            Ok(())
        })?;
        Ok(is_a)
    }

    /// Calls an implicit operation: one path for all of them.
    fn ask(
        &self,
        operation: &'static Operation,
        argument: Option<&str>,
        results: &mut dyn FnMut(&mut CdrReader<'_>) -> Result<(), CdrError>,
    ) -> Result<(), SystemException> {
        let arguments = |writer: &mut CdrWriter<'_>| {
            if let Some(name) = argument {
                writer.write_name(name);
            }
        };
        client::call(self.target(), operation, arguments, results)
    }

    /// Calls an implicit operation that returns a reference; `None` is nil.
    pub(crate) fn ask_for(
        &self,
        operation: &'static Operation,
        argument: Option<&str>,
    ) -> Result<Option<Self>, SystemException> {
        let mut object = None;
        self.ask(operation, argument, &mut |reader| {
            object = Decode::decode(reader)?;
            Ok(())
        })?;
        Ok(object)
    }

    /// Whether the object is known not to exist, or no longer to exist.
    ///
    /// # Errors
    /// The server could not be queried.
    pub fn non_existent(&self) -> Result<bool, SystemException> {
        static NON_EXISTENT: Operation = Operation::new("_non_existent").idempotent();
        let mut is_gone = false;
        let asked = self.ask(&NON_EXISTENT, None, &mut |reader| {
            is_gone = bool::decode(reader)?;
            Ok(())
        });
        match asked {
            Err(SystemException {
                kind: ExceptionKind::ObjectNotExist,
                ..
            }) => Ok(true),
            asked => asked.map(|()| is_gone),
        }
    }

    /// Repository id of the object's most derived interface, queried from the object.
    ///
    /// # Errors
    /// The object could not be queried.
    pub fn repository_id(&self) -> Result<String, SystemException> {
        static REPOSITORY_ID: Operation = Operation::new("_repository_id").idempotent();
        let mut id = String::new();
        self.ask(&REPOSITORY_ID, None, &mut |reader| {
            id = String::decode(reader)?;
            Ok(())
        })?;
        Ok(id)
    }

    /// The definition of the object's most derived interface, an InterfaceDef of the Interface
    /// Repository that the object's server has configured (CORBA's `get_interface`). Some ORBs
    /// return nil, `None`, where others raise INTF_REPOS.
    ///
    /// # Errors
    /// INTF_REPOS 1: the server has no repository, or cannot reach it; 2: the repository does
    /// not define the interface. The object could not be queried.
    pub fn interface(&self) -> Result<Option<Self>, SystemException> {
        static INTERFACE: Operation = Operation::new("_interface").idempotent();
        self.ask_for(&INTERFACE, None)
    }

    /// The component of which the object is a facet, or the object itself if it is a component
    /// (CORBA's `get_component`); `None` for any other object. Servers of JacORB have another name
    /// for the operation.
    ///
    /// # Errors
    /// The object could not be queried.
    pub fn component(&self) -> Result<Option<Self>, SystemException> {
        static COMPONENT: Operation = Operation::new("_component").idempotent();
        static GET_COMPONENT: Operation = Operation::new("_get_component").idempotent();
        match self.ask_for(&COMPONENT, None) {
            Err(it) if it.kind == ExceptionKind::BadOperation => self.ask_for(&GET_COMPONENT, None),
            asked => asked,
        }
    }

    /// A hash value up to `maximum`, the same for equal references in this process (CORBA's
    /// `hash`).
    #[must_use]
    pub fn hash_up_to(&self, maximum: u32) -> u32 {
        let mut hasher = DefaultHasher::new();
        self.ior().hash(&mut hasher);
        (hasher.finish() % (u64::from(maximum) + 1)) as u32
    }

    /// Locates the object by a LocateRequest to the server: `true` if it is there. A reference to
    /// which the server forwards is followed.
    ///
    /// # Errors
    /// The server could not be queried.
    pub fn locate(&self) -> Result<bool, SystemException> {
        client::locate(self.target())
    }

    /// Whether both references have an identical profile; `false` does not prove that the objects
    /// differ.
    #[must_use]
    pub fn is_equivalent(&self, other: &Self) -> bool {
        let mut profiles = self.ior().profiles.iter();
        Arc::ptr_eq(self.0.ior(), other.0.ior())
            || profiles.any(|profile| other.ior().profiles.contains(profile))
    }
}
