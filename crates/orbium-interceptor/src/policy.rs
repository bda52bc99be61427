// SPDX-License-Identifier: MIT OR Apache-2.0
//! Policies that programs define (`CORBA::Policy`), and their factories
//! (`PortableInterceptor::PolicyFactory`).

use std::any::Any as Erased;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use orbium_cdr::Any;
use orbium_giop::{Completion, ExceptionKind, SystemException};
use tracing::error;

/// Error of making a policy (`CORBA::PolicyError`).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(i16)]
pub enum PolicyError {
    /// The value has the right type, but does not make a valid policy.
    BadPolicy = 0,
    /// The type of policy is known, but not supported.
    UnsupportedPolicy = 1,
    /// The type of policy is unknown.
    BadPolicyType = 2,
    /// The value does not have the type of the policy.
    BadPolicyValue = 3,
    /// The value is valid, but not supported.
    UnsupportedPolicyValue = 4,
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BadPolicy => "the value makes no policy of that type",
            Self::UnsupportedPolicy => "policies of that type are not supported",
            Self::BadPolicyType => "there is no such type of policy",
            Self::BadPolicyValue => "the value is not of the policy's type",
            Self::UnsupportedPolicyValue => "that value of the policy is not supported",
        })
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for PolicyError {}

/// A policy of a type that a program defines. Copies of a policy are equal.
#[derive(Clone)]
pub struct Policy {
    policy_type: u32,
    value: Arc<dyn Erased + Send + Sync>,
}

impl Policy {
    /// A policy of that type. Interceptors read its value by [`Policy::value`].
    ///
    /// ```
    /// use orbium_interceptor::Policy;
    ///
    /// /// The region in which requests may be served.
    /// struct Region(&'static str);
    ///
    /// let policy = Policy::new(0x4F52_4201, Region("north"));
    /// assert_eq!(policy.policy_type(), 0x4F52_4201);
    /// assert_eq!(policy.value::<Region>().unwrap().0, "north");
    /// assert!(policy.value::<u32>().is_none());
    /// ```
    pub fn new(policy_type: u32, value: impl Erased + Send + Sync) -> Self {
        let value = Arc::new(value);
        Self { policy_type, value }
    }

    /// The policy of that type among others.
    #[must_use]
    pub fn find(policies: &[Self], policy_type: u32) -> Option<&Self> {
        policies.iter().find(|it| it.policy_type == policy_type)
    }

    /// Its type, which identifies it among the policies of an object.
    #[must_use]
    pub fn policy_type(&self) -> u32 {
        self.policy_type
    }

    /// The value from which it was made; `None` if that has another type.
    #[must_use]
    pub fn value<T: 'static>(&self) -> Option<&T> {
        self.value.downcast_ref()
    }
}

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Policy({})", self.policy_type)
    }
}

impl PartialEq for Policy {
    fn eq(&self, other: &Self) -> bool {
        self.policy_type == other.policy_type && Arc::ptr_eq(&self.value, &other.value)
    }
}

impl Eq for Policy {}

impl Hash for Policy {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.policy_type.hash(state);
    }
}

/// Makes policies of one type from values.
pub trait PolicyFactory: Send + Sync + 'static {
    /// Makes a policy.
    ///
    /// # Errors
    /// The reason why the value is not accepted.
    fn create_policy(&self, policy_type: u32, value: &Any) -> Result<Policy, PolicyError>;
}

impl<F> PolicyFactory for F
where
    F: Fn(u32, &Any) -> Result<Policy, PolicyError> + Send + Sync + 'static,
{
    fn create_policy(&self, policy_type: u32, value: &Any) -> Result<Policy, PolicyError> {
        self(policy_type, value)
    }
}

/// The factories of an ORB, by the types of their policies.
#[derive(Clone, Default)]
pub(crate) struct PolicyFactories(Vec<(u32, Arc<dyn PolicyFactory>)>);

impl PolicyFactories {
    pub(crate) fn register(
        &mut self,
        policy_type: u32,
        factory: impl PolicyFactory,
    ) -> Result<(), SystemException> {
        if self.of_type(policy_type).is_some() {
            return Err(SystemException::omg(
                ExceptionKind::BadInvOrder,
                16,
                Completion::No,
            ));
        }
        self.0.push((policy_type, Arc::new(factory)));
        Ok(())
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    fn of_type(&self, policy_type: u32) -> Option<&dyn PolicyFactory> {
        let (_, factory) = self.0.iter().find(|(of, _)| *of == policy_type)?;
        Some(&**factory)
    }

    /// Makes a policy; a panic of its factory is [`PolicyError::BadPolicy`].
    pub(crate) fn create(&self, policy_type: u32, value: &Any) -> Result<Policy, PolicyError> {
        let factory = self
            .of_type(policy_type)
            .ok_or(PolicyError::BadPolicyType)?;
        let made = catch_unwind(AssertUnwindSafe(|| {
            factory.create_policy(policy_type, value)
        }));
        match made {
            Ok(Ok(policy)) if policy.policy_type != policy_type => Err(PolicyError::BadPolicyType),
            Ok(made) => made,
            Err(_) => {
                error!(target: "orbium::call", policy_type, "policy factory panicked");
                Err(PolicyError::BadPolicy)
            }
        }
    }
}
