// SPDX-License-Identifier: MIT OR Apache-2.0
//! ORB initialisers: code that takes part in the construction of an ORB.

use std::panic::{AssertUnwindSafe, catch_unwind};

use orbium_giop::{Ior, SystemException};

use crate::errors::initializer_panicked;
use crate::registration::post_init::PostInitInfo;
use crate::registration::registry::Interceptors;

/// Takes part in the construction of an ORB (`PortableInterceptor::ORBInitializer`): registers
/// interceptors, slots, policy factories and initial references. While it runs, it cannot access
/// the slots of its thread: [`PiCurrent`](crate::PiCurrent) raises BAD_INV_ORDER 14.
///
/// ```
/// use orbium_core::Orb;
/// use orbium_giop::SystemException;
/// use orbium_interceptor::{ClientInterceptor, Interceptors, OrbInitInfo, OrbInitializer};
///
/// struct Nothing;
/// impl ClientInterceptor for Nothing {}
///
/// struct Logging;
///
/// impl OrbInitializer for Logging {
///     fn pre_init(&self, info: &mut OrbInitInfo<'_>) -> Result<(), SystemException> {
///         info.add_client(Nothing).map_err(|_| orbium_giop::ExceptionKind::Initialize)?;
///         Ok(())
///     }
/// }
///
/// let mut interceptors = Interceptors::new();
/// interceptors.initialize(Logging)?;
/// let orb = Orb::builder().interceptors(interceptors).build()?;
/// # drop(orb);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait OrbInitializer: Send + Sync + 'static {
    /// Called before the ORB exists.
    ///
    /// # Errors
    /// The reason for which the ORB cannot be built.
    fn pre_init(&self, _: &mut OrbInitInfo<'_>) -> Result<(), SystemException> {
        Ok(())
    }

    /// Called when the ORB exists, before it is returned to the program.
    ///
    /// # Errors
    /// The reason for which it cannot start.
    fn post_init(&self, _: &PostInitInfo<'_>) -> Result<(), SystemException> {
        Ok(())
    }
}

/// Operations of an initialiser before the ORB exists (`ORBInitInfo` in `pre_init`): those of
/// [`Interceptors`], to which it dereferences, and initial references.
#[derive(Debug)]
pub struct OrbInitInfo<'i> {
    pub(crate) all: &'i mut Interceptors,
}

impl OrbInitInfo<'_> {
    /// Registers a reference under a name, for
    /// `resolve_initial_references` of the ORB.
    ///
    /// # Errors
    /// BAD_PARAM for a name that is empty or taken (`InvalidName`); BAD_PARAM 27 for a nil
    /// reference.
    pub fn register_initial_reference(
        &mut self,
        name: &str,
        object: &Ior,
    ) -> Result<(), SystemException> {
        self.all.register_initial_reference(name, object)
    }
}

impl std::ops::Deref for OrbInitInfo<'_> {
    type Target = Interceptors;

    fn deref(&self) -> &Interceptors {
        self.all
    }
}

impl std::ops::DerefMut for OrbInitInfo<'_> {
    fn deref_mut(&mut self) -> &mut Interceptors {
        self.all
    }
}

impl Interceptors {
    /// Runs `pre_init` of an initialiser, and retains it until the ORB exists.
    ///
    /// # Errors
    /// The exception of `pre_init`; UNKNOWN if it panics.
    pub fn initialize(&mut self, initializer: impl OrbInitializer) -> Result<(), SystemException> {
        let slots = self.slots().clone();
        let mut info = OrbInitInfo { all: self };
        let run = AssertUnwindSafe(|| slots.initialize(|| initializer.pre_init(&mut info)));
        catch_unwind(run).map_err(|_| initializer_panicked())??;
        self.keep_post_init(move |info| initializer.post_init(info));
        Ok(())
    }
}
