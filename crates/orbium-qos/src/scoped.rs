// SPDX-License-Identifier: MIT OR Apache-2.0
//! References that follow their scopes.

use std::fmt;

use orbium_core::Interface;
use orbium_core::lock::Mutex;

use crate::{Qos, QosError, QosObject, QosScopes};

/// Maximum number of cached references, each with its connections.
const MAX_CACHED: usize = 8;

/// A reference that reads its scopes for each call; [`QosScopes::follow`] returns it.
///
/// References for up to eight different values are cached, so that an unchanged value costs only
/// the look-up. In the classes with private connections each value has separate connections.
pub struct ScopedReference<T> {
    scopes: QosScopes,
    object: T,
    /// The `Qos` of the reference, its published part included.
    reference: Qos,
    /// References by their `Qos`, the last used one at the end.
    cached: Mutex<Vec<(Qos, T)>>,
}

impl QosScopes {
    /// The object for calls with the `Qos` in force at the time of each call: in the calling
    /// thread, and with that of the call.
    ///
    /// ```
    /// use std::time::Duration;
    /// use orbium_core::{Interface, ObjectRef, Orb};
    /// use orbium_qos::{Qos, QosScopes};
    ///
    /// let orb = Orb::builder().build()?;
    /// let valve: ObjectRef = orb.resolve("corbaloc::localhost:5000/Valve")?;
    /// let scopes = QosScopes::default();
    /// let valve = scopes.follow(&valve, &Qos::NONE);
    /// let second = Qos { deadline: Some(Duration::from_secs(1)), ..Qos::NONE };
    /// scopes.set_thread(second);
    /// let for_next_call = valve.now()?;
    /// assert_eq!(for_next_call.time_policies().roundtrip_timeout, second.deadline);
    /// let short = Qos { deadline: Some(Duration::from_millis(5)), ..Qos::NONE };
    /// let for_one_call = valve.for_call(&short)?;
    /// assert_eq!(for_one_call.time_policies().roundtrip_timeout, short.deadline);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn follow<T: Interface>(&self, object: &T, reference: &Qos) -> ScopedReference<T> {
        ScopedReference {
            scopes: self.clone(),
            object: object.clone(),
            reference: reference.or(&object.published_qos()),
            cached: Mutex::default(),
        }
    }
}

impl<T: Interface> ScopedReference<T> {
    /// The `Qos` in force for a call of this thread without a `Qos` of the call.
    ///
    /// # Errors
    /// [`QosError`]: the values of the scopes contradict each other.
    pub fn in_force(&self) -> Result<Qos, QosError> {
        self.scopes.in_force(&self.reference, &Qos::NONE)
    }

    /// The object for the next call of this thread.
    ///
    /// # Errors
    /// As [`in_force`](Self::in_force).
    pub fn now(&self) -> Result<T, QosError> {
        self.for_call(&Qos::NONE)
    }

    /// The object for one call, with the `Qos` of that call.
    ///
    /// # Errors
    /// As [`in_force`](Self::in_force).
    pub fn for_call(&self, call: &Qos) -> Result<T, QosError> {
        let qos = self.scopes.in_force(&self.reference, call)?;
        let mut cached = self.cached.lock();
        let object = match cached.iter().position(|(of, _)| *of == qos) {
            Some(index) => cached.remove(index).1,
            None => self.object.with_qos(&qos)?,
        };
        let evicted = (cached.len() == MAX_CACHED).then(|| cached.remove(0));
        cached.push((qos, object.clone()));
        drop(cached);
        // This may close connections, for which other callers need not wait.
        drop(evicted);
        Ok(object)
    }
}

impl<T> fmt::Debug for ScopedReference<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopedReference")
            .field("reference", &self.reference)
            .finish_non_exhaustive()
    }
}
