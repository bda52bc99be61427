// SPDX-License-Identifier: MIT OR Apache-2.0
//! Interceptors of references: components that adapters publish, and the states of adapters.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use orbium_channel::protocol::ProfileComponents;
use orbium_giop::{Completion, ExceptionKind, SystemException, TaggedComponent};
use tracing::{error, warn};

use crate::policy::Policy;

/// The state of an adapter or of its manager (`PortableInterceptor::AdapterState`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(i16)]
pub enum AdapterState {
    /// Requests wait.
    Holding = 0,
    /// Requests are served.
    Active = 1,
    /// Requests are answered with TRANSIENT.
    Discarding = 2,
    /// Requests are refused, for good.
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

/// Sees adapters being made, and adds components to the references of their objects.
///
/// ```
/// use orbium_giop::{SystemException, TaggedComponent};
/// use orbium_interceptor::{Interceptors, IorInfo, IorInterceptor};
///
/// /// Publishes which site an object is at.
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
    /// Unique among the interceptors of references unless it is empty.
    fn name(&self) -> &str {
        ""
    }

    /// The ORB ends.
    fn destroy(&self) {}

    /// An adapter is being made: its references have the components that are added here.
    ///
    /// # Errors
    /// They are logged, and the adapter is made nevertheless.
    fn establish_components(&self, _: &mut IorInfo<'_>) -> Result<(), SystemException> {
        Ok(())
    }

    /// All interceptors have added what they add.
    ///
    /// # Errors
    /// The adapter is not made: OBJ_ADAPTER 6 of `create_poa`.
    fn components_established(&self, _: &IorInfo<'_>) -> Result<(), SystemException> {
        Ok(())
    }

    /// A manager of adapters has another state. A panic is ignored.
    fn adapter_manager_state_changed(&self, _manager_id: &str, _: AdapterState) {}

    /// An adapter has another state than its manager: it was destroyed. The adapter is named by
    /// its path, `RootPOA` first. A panic is ignored.
    fn adapter_state_changed(&self, _adapter_name: &[String], _: AdapterState) {}
}

/// An adapter that is being made (`PortableInterceptor::IORInfo`).
#[derive(Debug)]
pub struct IorInfo<'a> {
    /// The names of the adapter and those above, `RootPOA` first.
    pub(crate) adapter_name: Vec<String>,
    pub(crate) manager_id: &'a str,
    pub(crate) state: AdapterState,
    pub(crate) policies: &'a [Policy],
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
            components: ProfileComponents::default(),
        }
    }

    /// The names of the adapter and those above, `RootPOA` first.
    #[must_use]
    pub fn adapter_name(&self) -> &[String] {
        &self.adapter_name
    }

    /// The id of the adapter's manager.
    #[must_use]
    pub fn manager_id(&self) -> &str {
        self.manager_id
    }

    /// The state of that.
    #[must_use]
    pub fn state(&self) -> AdapterState {
        self.state
    }

    /// The policy of that type that the adapter was made with; `None` if it has none.
    #[must_use]
    pub fn effective_policy(&self, policy_type: u32) -> Option<&Policy> {
        let mut policies = self.policies.iter();
        policies.find(|it| it.policy_type() == policy_type)
    }

    /// Adds a component to all profiles of references; those of IIOP 1.0 have none.
    pub fn add_component(&mut self, component: TaggedComponent) {
        self.components.of_all.push(component);
    }

    /// Adds a component to profiles with that tag.
    pub fn add_component_to_profile(&mut self, component: TaggedComponent, profile_tag: u32) {
        self.components.of_tags.push((profile_tag, component));
    }
}

/// Interceptors of references in the order of their registration.
#[derive(Clone, Default)]
pub struct IorInterceptors(Vec<(String, Arc<dyn IorInterceptor>)>);

impl IorInterceptors {
    pub(crate) fn push(&mut self, name: String, interceptor: impl IorInterceptor) {
        self.0.push((name, Arc::new(interceptor)));
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// An adapter is being made: the components that its references are to have.
    ///
    /// # Errors
    /// OBJ_ADAPTER 6 if `components_established` of an interceptor fails.
    pub fn establish(&self, mut info: IorInfo<'_>) -> Result<ProfileComponents, SystemException> {
        for (name, it) in &self.0 {
            if let Err(exception) = unpanicked(name, || it.establish_components(&mut info)) {
                warn!(
                    target: "orbium::poa", interceptor = name.as_str(), error = %exception,
                    "interceptor has failed to add its components",
                );
            }
        }
        for (name, it) in &self.0 {
            let established = unpanicked(name, || it.components_established(&info));
            established.map_err(|_| not_established())?;
        }
        Ok(info.components)
    }

    /// A manager of adapters has that state now.
    pub fn manager_changed(&self, manager_id: &str, state: AdapterState) {
        self.each(|it| it.adapter_manager_state_changed(manager_id, state));
    }

    /// The adapter of that path below the root has that state now.
    pub fn adapter_changed(&self, path: &[String], state: AdapterState) {
        self.each(|it| it.adapter_state_changed(&names_of(path), state));
    }

    /// The ORB ends.
    pub(crate) fn destroy(&self) {
        self.each(IorInterceptor::destroy);
    }

    fn each(&self, run: impl Fn(&dyn IorInterceptor)) {
        for (name, it) in &self.0 {
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

/// The names of an adapter and of those above, `RootPOA` first.
fn names_of(path: &[String]) -> Vec<String> {
    let root = std::iter::once("RootPOA".to_owned());
    root.chain(path.iter().cloned()).collect()
}

fn unpanicked(
    name: &str,
    run: impl FnOnce() -> Result<(), SystemException>,
) -> Result<(), SystemException> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| {
        // Where, the panic hook has said.
        error!(target: "orbium::poa", interceptor = name, "interceptor panicked");
        Err(crate::errors::panicked(Completion::No))
    })
}

/// An interceptor has refused an adapter.
const fn not_established() -> SystemException {
    SystemException::omg(ExceptionKind::ObjAdapter, 6, Completion::No)
}
