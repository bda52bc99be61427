// SPDX-License-Identifier: MIT OR Apache-2.0
//! Scopes of a `Qos`: ORB, thread and reference.

use std::cell::RefCell;
use std::sync::{Arc, Weak};

use orbium_core::Interface;
use orbium_core::lock::Mutex;

use crate::{Qos, QosError, QosObject};

/// Scopes of quality of service in an ORB and its threads; the narrower takes precedence, each
/// field separately: call, reference, thread, ORB. Clones are the same scopes. Scopes are read by
/// [`bind`](Self::bind) once, by a [`ScopedReference`](crate::ScopedReference) for each call; plain
/// references have none.
///
/// ```
/// use std::time::Duration;
/// use orbium_qos::{Qos, QosScopes};
///
/// let scopes = QosScopes::new(Qos { deadline: Some(Duration::from_secs(1)), ..Qos::NONE });
/// scopes.set_thread(Qos { bandwidth: Some(1 << 20), ..Qos::NONE });
/// let reference = Qos { deadline: Some(Duration::from_millis(20)), ..Qos::NONE };
/// let in_force = scopes.in_force(&reference, &Qos::NONE)?;
/// assert_eq!(in_force.deadline, Some(Duration::from_millis(20)));
/// assert_eq!(in_force.bandwidth, Some(1 << 20));
/// # Ok::<(), orbium_qos::QosError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct QosScopes(Arc<Mutex<Qos>>);

thread_local! {
    /// The values of this thread, by their scopes.
    static OF_THREAD: RefCell<Vec<(Weak<Mutex<Qos>>, Qos)>> = const { RefCell::new(Vec::new()) };
}

impl QosScopes {
    /// The scopes of an ORB with that value.
    #[must_use]
    pub fn new(of_orb: Qos) -> Self {
        Self(Arc::new(Mutex::new(of_orb)))
    }

    /// The `Qos` of the ORB.
    #[must_use]
    pub fn orb(&self) -> Qos {
        *self.0.lock()
    }

    /// Sets the value of the ORB.
    pub fn set_orb(&self, qos: Qos) {
        *self.0.lock() = qos;
    }

    /// The `Qos` of the calling thread.
    #[must_use]
    pub fn thread(&self) -> Qos {
        OF_THREAD.with_borrow(|all| {
            let own = all.iter().find(|(of, _)| self.is(of));
            own.map_or(Qos::NONE, |(_, qos)| *qos)
        })
    }

    /// Sets the value of the calling thread.
    pub fn set_thread(&self, qos: Qos) {
        OF_THREAD.with_borrow_mut(|all| {
            all.retain(|(of, _)| of.strong_count() > 0 && !self.is(of));
            if qos != Qos::NONE {
                all.push((Arc::downgrade(&self.0), qos));
            }
        });
    }

    fn is(&self, of: &Weak<Mutex<Qos>>) -> bool {
        std::ptr::eq(of.as_ptr(), Arc::as_ptr(&self.0))
    }

    /// The `Qos` in force for a call of this thread through a reference with the value `reference`.
    ///
    /// # Errors
    /// [`QosError`]: the combined values are inconsistent.
    pub fn in_force(&self, reference: &Qos, call: &Qos) -> Result<Qos, QosError> {
        let qos = call.or(reference).or(&self.thread()).or(&self.orb());
        qos.check().map(|()| qos)
    }

    /// The object with the values now in force for this thread: a later
    /// [`set_thread`](Self::set_thread) or [`set_orb`](Self::set_orb) does not change it, and other
    /// threads that use it call with the same values. [`follow`](Self::follow) is for values that
    /// change. The reference's own value ([`QosObject::published_qos`]) also belongs to the scope
    /// of references, after `reference`.
    ///
    /// # Errors
    /// [`QosError`]: the combined values are inconsistent.
    pub fn bind<T: Interface>(&self, object: &T, reference: &Qos) -> Result<T, QosError> {
        let reference = reference.or(&object.published_qos());
        object.with_qos(&self.in_force(&reference, &Qos::NONE)?)
    }
}
