// SPDX-License-Identifier: MIT OR Apache-2.0
//! Chains of dispatch hooks.

use std::sync::Arc;

use orbium_core::{
    Dispatch, DispatchHook, Hook, Lane, Priority, RequestInfo, RequestTiming, Scheduling,
    SystemException,
};

/// Dispatch hooks in sequence, as one hook: on arrival the first is called first, on completion the
/// last (Chain of Responsibility).
///
/// * [`Dispatch::Here`] passes the request to the next hook.
/// * [`Dispatch::At`] and [`Dispatch::InAt`] change the priority and, the latter, the lane; the
///   next hooks are called, too, and their decisions replace it. [`Dispatch::In`] likewise.
/// * [`Dispatch::Timed`] selects the lane likewise, and its times apply unless another hook sets a
///   priority.
/// * [`Dispatch::Refuse`] and [`Dispatch::Forward`] end the chain.
/// * [`DispatchHook::begins`] is called on all of them until one refuses.
/// * [`DispatchHook::leaves`] is called on all of them in reverse order.
///
/// ```
/// use std::sync::Arc;
/// use orbium_core::{Dispatch, DispatchHook, Hook, Policies, Priority, RequestInfo};
/// use orbium_rt::dispatch::HookChain;
///
/// /// Emergencies go first.
/// #[derive(Debug)]
/// struct Emergencies;
///
/// impl DispatchHook for Emergencies {
///     fn arrived(&self, request: &RequestInfo<'_>) -> Dispatch {
///         match request.operation() {
///             b"stop" => Dispatch::At(Priority::MAX, None),
///             _ => Dispatch::Here,
///         }
///     }
/// }
///
/// let chain = HookChain::new([Hook(Arc::new(Emergencies))]);
/// let policies = Policies {
///     dispatch: Some(Hook(Arc::new(chain))),
///     ..Policies::default()
/// };
/// # drop(policies);
/// ```
#[derive(Clone, Debug, Default)]
pub struct HookChain {
    hooks: Vec<Hook>,
}

/// The combined decision of the hooks so far.
#[derive(Default)]
struct Said {
    lane: Option<Lane>,
    priority: Option<(Priority, Option<Scheduling>)>,
    timing: Option<RequestTiming>,
}

impl HookChain {
    /// These hooks, in this order.
    #[must_use]
    pub fn new(hooks: impl IntoIterator<Item = Hook>) -> Self {
        Self {
            hooks: hooks.into_iter().collect(),
        }
    }

    /// Appends a hook.
    #[must_use]
    pub fn then(mut self, hook: impl DispatchHook) -> Self {
        self.hooks.push(Hook(Arc::new(hook)));
        self
    }
}

impl DispatchHook for HookChain {
    fn arrived(&self, request: &RequestInfo<'_>) -> Dispatch {
        let mut said = Said::default();
        for hook in &self.hooks {
            match hook.0.arrived(request) {
                Dispatch::Here => {}
                Dispatch::At(priority, scheduling) => said.priority = Some((priority, scheduling)),
                Dispatch::In(lane) => said.lane = Some(lane),
                Dispatch::Timed(lane, timing) => {
                    said.lane = Some(lane);
                    said.timing = Some(timing);
                }
                Dispatch::InAt(lane, priority, scheduling) => {
                    said.lane = Some(lane);
                    said.priority = Some((priority, scheduling));
                }
                last @ (Dispatch::Refuse(_) | Dispatch::Forward(_)) => return last,
            }
        }
        match (said.lane, said.priority) {
            (None, None) => Dispatch::Here,
            (None, Some((priority, scheduling))) => Dispatch::At(priority, scheduling),
            (Some(lane), None) => match said.timing {
                Some(timing) => Dispatch::Timed(lane, timing),
                None => Dispatch::In(lane),
            },
            (Some(lane), Some((priority, scheduling))) => {
                Dispatch::InAt(lane, priority, scheduling)
            }
        }
    }

    fn begins(&self, request: &RequestInfo<'_>) -> Result<(), SystemException> {
        let mut hooks = self.hooks.iter();
        hooks.try_for_each(|hook| hook.0.begins(request))
    }

    fn leaves(
        &self,
        request: &RequestInfo<'_>,
        failed: Option<SystemException>,
    ) -> Option<SystemException> {
        let hooks = self.hooks.iter().rev();
        hooks.fold(failed, |failed, hook| hook.0.leaves(request, failed))
    }
}
