// SPDX-License-Identifier: MIT OR Apache-2.0
//! An adapter during its creation, for interceptors of references.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use orbium_channel::protocol::ProfileComponents;
use orbium_giop::{SystemException, TaggedComponent};

use crate::errors::{no_such_policy, no_such_profile};
use crate::policy::Policy;
use crate::reference::template::{
    CurrentFactory, ObjectReferenceFactory, ObjectReferenceTemplate, names_of,
};

/// The highest standard policy type; those of vendors are above (they begin with a vendor's number
/// assigned by the OMG).
const LAST_STANDARD_POLICY: u32 = 0xFFF;

/// The state of an adapter or of its manager (`PortableInterceptor::AdapterState`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(i16)]
pub enum AdapterState {
    /// Requests are held.
    Holding = 0,
    /// Requests are served.
    Active = 1,
    /// Requests are answered with TRANSIENT.
    Discarding = 2,
    /// Requests are refused permanently.
    Inactive = 3,
    /// The adapter was destroyed.
    NonExistent = 4,
}

impl AdapterState {
    /// The state of a manager with that number.
    #[must_use]
    pub fn of_manager(number: usize) -> Self {
        match number {
            0 => Self::Holding,
            1 => Self::Active,
            2 => Self::Discarding,
            _ => Self::Inactive,
        }
    }
}

/// An adapter during its creation (`PortableInterceptor::IORInfo`).
#[derive(Debug)]
pub struct IorInfo<'a> {
    /// The names of the adapter and its ancestors, `RootPOA` first.
    adapter_name: Vec<String>,
    manager_id: &'a str,
    state: AdapterState,
    policies: &'a [Policy],
    /// Types of policies that have a factory.
    pub(crate) policy_types: Vec<u32>,
    /// Whether profiles have components.
    pub(crate) has_components: bool,
    pub(crate) components: ProfileComponents,
}

impl<'a> IorInfo<'a> {
    /// An adapter without components of interceptors, by its path below the root.
    #[must_use]
    pub fn new(
        path: &[String],
        (manager_id, state): (&'a str, AdapterState),
        policies: &'a [Policy],
    ) -> Self {
        Self {
            adapter_name: names_of(path),
            manager_id,
            state,
            policies,
            policy_types: Vec::new(),
            has_components: true,
            components: ProfileComponents::default(),
        }
    }

    /// The names of the adapter and its ancestors, `RootPOA` first.
    #[must_use]
    pub fn adapter_name(&self) -> &[String] {
        &self.adapter_name
    }

    /// The id of the adapter's manager.
    #[must_use]
    pub fn manager_id(&self) -> &str {
        self.manager_id
    }

    /// The state of the adapter's manager.
    #[must_use]
    pub fn state(&self) -> AdapterState {
        self.state
    }

    /// The program-defined policy of that type with which the adapter was created; `None` if it has
    /// none (`get_effective_policy`).
    ///
    /// # Errors
    /// INV_POLICY 2 for an unknown type: no factory is registered for it, and it is not a standard
    /// one.
    pub fn effective_policy(&self, policy_type: u32) -> Result<Option<&Policy>, SystemException> {
        let found = Policy::find(self.policies, policy_type);
        let is_known =
            policy_type <= LAST_STANDARD_POLICY || self.policy_types.contains(&policy_type);
        match found {
            None if !is_known => Err(no_such_policy()),
            _ => Ok(found),
        }
    }

    /// Adds a component to all profiles of references; those of IIOP 1.0 have no components.
    pub fn add_component(&mut self, component: TaggedComponent) {
        self.components.of_all.push(component);
    }

    /// Adds a component to profiles with that tag.
    ///
    /// # Errors
    /// BAD_PARAM 29: no profile of the ORB has that tag, or its profiles belong to IIOP 1.0 and
    /// have no components.
    pub fn add_component_to_profile(
        &mut self,
        component: TaggedComponent,
        profile_tag: u32,
    ) -> Result<(), SystemException> {
        if self.has_components && self.components.add(component, profile_tag) {
            Ok(())
        } else {
            Err(no_such_profile())
        }
    }
}

/// An adapter after all components were added (`PortableInterceptor::IORInfo` in
/// `components_established`): the factory of its references can be replaced.
///
/// ```
/// use orbium_giop::{Ior, SystemException};
/// use orbium_interceptor::{
///     EstablishedAdapter, IorInterceptor, ObjectReferenceFactory, ObjectReferenceTemplate,
/// };
///
/// /// Gives references another type.
/// struct Typed(ObjectReferenceTemplate);
///
/// impl ObjectReferenceFactory for Typed {
///     fn make_object(&self, _: &str, object_id: &[u8]) -> Result<Ior, SystemException> {
///         self.0.make_object("IDL:acme/Base:1.0", object_id)
///     }
/// }
///
/// struct Typing;
///
/// impl IorInterceptor for Typing {
///     fn components_established(
///         &self,
///         adapter: &mut EstablishedAdapter<'_, '_>,
///     ) -> Result<(), SystemException> {
///         let template = adapter.template().clone();
///         adapter.set_current_factory(Typed(template));
///         Ok(())
///     }
/// }
/// ```
pub struct EstablishedAdapter<'i, 'a> {
    info: &'i IorInfo<'a>,
    template: ObjectReferenceTemplate,
    /// `None` for the template.
    factory: Option<Arc<dyn ObjectReferenceFactory>>,
}

impl<'i, 'a> EstablishedAdapter<'i, 'a> {
    pub(crate) fn new(info: &'i IorInfo<'a>, template: ObjectReferenceTemplate) -> Self {
        Self {
            info,
            template,
            factory: None,
        }
    }

    /// The template by which the adapter itself makes references (`adapter_template`).
    #[must_use]
    pub fn template(&self) -> &ObjectReferenceTemplate {
        &self.template
    }

    /// The factory of all references of the adapter (`current_factory`): the template, or the one
    /// set by a previous interceptor.
    #[must_use]
    pub fn current_factory(&self) -> Arc<dyn ObjectReferenceFactory> {
        let replaced = self.factory.clone();
        replaced.unwrap_or_else(|| Arc::new(self.template.clone()))
    }

    /// Sets the factory of all references of the adapter. They have to lead to its objects,
    /// possibly indirectly.
    pub fn set_current_factory(&mut self, factory: impl ObjectReferenceFactory) {
        self.factory = Some(Arc::new(factory));
    }

    /// The factory that replaces the template.
    pub(crate) fn into_factory(self) -> Option<CurrentFactory> {
        self.factory.map(CurrentFactory)
    }
}

impl<'a> Deref for EstablishedAdapter<'_, 'a> {
    type Target = IorInfo<'a>;

    fn deref(&self) -> &IorInfo<'a> {
        self.info
    }
}

impl fmt::Debug for EstablishedAdapter<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EstablishedAdapter")
            .field("info", &self.info)
            .field("is_replaced", &self.factory.is_some())
            .finish_non_exhaustive()
    }
}
