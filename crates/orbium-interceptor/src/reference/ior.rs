// SPDX-License-Identifier: MIT OR Apache-2.0
//! Interceptors of references: components published by adapters, and the states of adapters.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use orbium_channel::protocol::ProfileComponents;
use orbium_giop::{Completion, ExceptionKind, SystemException};
use tracing::{error, warn};

use crate::reference::adapter::{AdapterState, EstablishedAdapter, IorInfo};
use crate::reference::template::{CurrentFactory, ObjectReferenceTemplate};

/// Interceptor of the creation of adapters, which can add components to the references of their
/// objects.
///
/// ```
/// use orbium_giop::{SystemException, TaggedComponent};
/// use orbium_interceptor::{Interceptors, IorInfo, IorInterceptor};
///
/// /// Publishes the site of an object.
/// struct Site(Vec<u8>);
///
/// impl IorInterceptor for Site {
///     fn establish_components(&self, adapter: &mut IorInfo<'_>) -> Result<(), SystemException> {
///         adapter.add_component(TaggedComponent {
///             tag: 0x4F52_4210,
///             data: self.0.clone(),
///         });
///         Ok(())
///     }
/// }
///
/// let mut interceptors = Interceptors::new();
/// interceptors.add_ior(Site(b"north".to_vec()))?;
/// # Ok::<(), orbium_interceptor::DuplicateName>(())
/// ```
pub trait IorInterceptor: Send + Sync + 'static {
    /// The name, unique among the interceptors of references unless it is empty.
    fn name(&self) -> &str {
        ""
    }

    /// Called at the end of the ORB.
    fn destroy(&self) {}

    /// Called when an adapter is created: components added here are published in its references.
    ///
    /// # Errors
    /// They are logged, and the adapter is created nevertheless.
    fn establish_components(&self, _: &mut IorInfo<'_>) -> Result<(), SystemException> {
        Ok(())
    }

    /// Called after all interceptors have added components. The factory of the adapter's references
    /// can be replaced.
    ///
    /// # Errors
    /// The adapter is not created: OBJ_ADAPTER 6 of `create_poa`.
    fn components_established(
        &self,
        _: &mut EstablishedAdapter<'_, '_>,
    ) -> Result<(), SystemException> {
        Ok(())
    }

    /// Called when the state of a manager has changed. A panic is ignored.
    fn adapter_manager_state_changed(&self, _manager_id: &str, _: AdapterState) {}

    /// Called when the state of adapters has changed independently of their managers: they were
    /// destroyed. A panic is ignored.
    fn adapter_state_changed(&self, _: &[ObjectReferenceTemplate], _: AdapterState) {}
}

/// Interceptors of references in the order of their registration.
#[derive(Clone, Default)]
pub struct IorInterceptors {
    all: Vec<(String, Arc<dyn IorInterceptor>)>,
    /// Types of policies that have a factory.
    policy_types: Vec<u32>,
    /// Whether the profiles of the ORB belong to IIOP 1.0.
    is_iiop_1_0: bool,
}

impl IorInterceptors {
    /// The interceptors for an ORB with profiles of that minor version of IIOP.
    #[must_use]
    pub fn of_minor(self, minor: u8) -> Self {
        Self {
            is_iiop_1_0: minor == 0,
            ..self
        }
    }

    pub(crate) fn push(&mut self, name: String, interceptor: impl IorInterceptor) {
        self.all.push((name, Arc::new(interceptor)));
    }

    /// Records that a factory for policies of that type is registered.
    pub(crate) fn add_policy_type(&mut self, policy_type: u32) {
        self.policy_types.push(policy_type);
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.all.iter().map(|(name, _)| name.as_str())
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// Runs the interceptors for a new adapter: returns the components of its references.
    pub fn establish(&self, info: &mut IorInfo<'_>) -> ProfileComponents {
        info.policy_types.clone_from(&self.policy_types);
        info.has_components = !self.is_iiop_1_0;
        for (name, it) in &self.all {
            if let Err(exception) = unpanicked(name, || it.establish_components(info)) {
                warn!(
                    target: "orbium::poa", interceptor = name.as_str(), error = %exception,
                    "interceptor has failed to add its components",
                );
            }
        }
        std::mem::take(&mut info.components)
    }

    /// Runs the interceptors after the components were added: returns the factory that replaces
    /// `template`, if an interceptor has set one.
    ///
    /// # Errors
    /// OBJ_ADAPTER 6 if `components_established` of an interceptor fails.
    pub fn established(
        &self,
        info: &IorInfo<'_>,
        template: ObjectReferenceTemplate,
    ) -> Result<Option<CurrentFactory>, SystemException> {
        let mut adapter = EstablishedAdapter::new(info, template);
        for (name, it) in &self.all {
            let established = unpanicked(name, || it.components_established(&mut adapter));
            established.map_err(|_| not_established())?;
        }
        Ok(adapter.into_factory())
    }

    /// Notifies the interceptors of the state of a manager.
    pub fn manager_changed(&self, manager_id: &str, state: AdapterState) {
        self.each(|it| it.adapter_manager_state_changed(manager_id, state));
    }

    /// Notifies the interceptors of the state of the adapter with that template.
    pub fn adapter_changed(&self, template: ObjectReferenceTemplate, state: AdapterState) {
        let templates = [template];
        self.each(|it| it.adapter_state_changed(&templates, state));
    }

    /// Notifies the interceptors of the end of the ORB.
    pub(crate) fn destroy(&self) {
        self.each(IorInterceptor::destroy);
    }

    fn each(&self, run: impl Fn(&dyn IorInterceptor)) {
        for (name, it) in &self.all {
            // A panic is logged.
            let _ = unpanicked(name, || {
                run(&**it);
                Ok(())
            });
        }
    }
}

impl fmt::Debug for IorInterceptors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

fn unpanicked(
    name: &str,
    run: impl FnOnce() -> Result<(), SystemException>,
) -> Result<(), SystemException> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| {
        // The panic hook has reported the location.
        error!(target: "orbium::poa", interceptor = name, "interceptor panicked");
        Err(crate::errors::panicked(Completion::No))
    })
}

/// The exception if an interceptor has refused an adapter.
const fn not_established() -> SystemException {
    SystemException::omg(ExceptionKind::ObjAdapter, 6, Completion::No)
}
