// SPDX-License-Identifier: MIT OR Apache-2.0
//! The operations of a channel in a schedule, between suppliers and consumers.

use std::time::Duration;

use orbium_sched::{
    Criticality, DependencyKind, Handle, InfoKind, Repository, SchedError, Time, Timing,
};

use crate::event::ANY;
use crate::subscription::pattern::Pattern;
use crate::supply::publication::Publication;

/// The suffix of the name of the operation that dispatches to a consumer.
pub(crate) const DISPATCH: &str = "#dispatch";

/// A consumer for a schedule.
pub(crate) struct Consumption {
    /// The handle of its operation; not 0.
    pub(crate) rt_info: i32,
    pub(crate) pattern: Pattern,
    /// Whether another process runs the operation.
    pub(crate) is_remote: bool,
}

/// Registers the operations of the channel for each consumer, between the operations of suppliers
/// and those of consumers. Two consumers of one operation have separate operations.
///
/// # Errors
/// `UnknownTask`: a peer has named an operation that the repository does not have. `PeriodTooLong`.
pub(crate) fn register(
    repository: &mut Repository,
    (publications, consumptions): (&[Publication], &[Consumption]),
    dispatch_time: Duration,
) -> Result<(), SchedError> {
    for it in publications.iter().filter(|it| it.rt_info != 0) {
        repository.get(handle(it.rt_info))?;
    }
    for consumption in consumptions {
        Registration {
            repository,
            publications,
            dispatch_time: time(dispatch_time),
            base: String::new(),
            nodes: 0,
            criticality: Criticality::default(),
        }
        .consumer(consumption)?;
    }
    Ok(())
}

/// Registers the nodes of one consumer's subscription.
struct Registration<'r> {
    repository: &'r mut Repository,
    publications: &'r [Publication],
    dispatch_time: Time,
    /// The name of the root.
    base: String,
    /// The number of nodes below the root so far.
    nodes: usize,
    criticality: Criticality,
}

impl Registration<'_> {
    fn consumer(&mut self, consumption: &Consumption) -> Result<(), SchedError> {
        let consumer = handle(consumption.rt_info);
        let info = self.repository.get(consumer)?;
        let has_thread = info.timing.threads > 0 || consumption.is_remote;
        self.criticality = info.timing.criticality;
        self.base = self.unused(&format!("{}{DISPATCH}", info.entry_point));
        let root = self.group(&self.base.clone(), &consumption.pattern)?;
        if has_thread {
            self.data(consumer, root, 1)
        } else {
            // The thread that dispatches runs the consumer.

            let kind = DependencyKind::TwoWayCall;
            self.repository.add_dependency(root, consumer, 1, kind)
        }
    }

    /// `name`, or with a number if that is registered.
    fn unused(&self, name: &str) -> String {
        let numbered = (2_u64..).map(|number| format!("{name}.{number}"));
        let mut names = std::iter::once(name.to_owned()).chain(numbered);
        let unused = names.find(|it| self.repository.lookup(it).is_err());
        unused.unwrap_or_default()
    }

    /// An operation for the group at the root of a pattern, or for the pattern as a group of one.
    fn group(&mut self, name: &str, pattern: &Pattern) -> Result<Handle, SchedError> {
        let (kind, children) = match pattern {
            Pattern::Conjunction(children) => (InfoKind::Conjunction, &children[..]),
            Pattern::Disjunction(children) => (InfoKind::Disjunction, &children[..]),
            other => (InfoKind::Disjunction, std::slice::from_ref(other)),
        };
        let node = self.register(name, Time::ZERO, kind)?;
        for child in children {
            match child {
                Pattern::Conjunction(_) | Pattern::Disjunction(_) => {
                    let name = self.next_name();
                    let child = self.group(&name, child)?;
                    self.data(node, child, 1)?;
                }
                Pattern::Interval(period) | Pattern::Deadline(period) => {
                    let name = self.next_name();
                    let timer = self.register(&name, time(*period), InfoKind::Operation)?;
                    self.data(node, timer, 1)?;
                }
                // It fires once.
                Pattern::Timeout(_) => {}
                leaf => self.suppliers(node, leaf)?,
            }
        }
        Ok(node)
    }

    /// Adds dependencies on the operations that push events which a pattern may pass.
    fn suppliers(&mut self, node: Handle, pattern: &Pattern) -> Result<(), SchedError> {
        let passed = self.publications.iter().filter(|it| it.rt_info != 0);
        for it in passed.filter(|it| may_pass(pattern, it)) {
            self.data(node, handle(it.rt_info), it.calls)?;
        }
        Ok(())
    }

    fn register(&mut self, name: &str, period: Time, kind: InfoKind) -> Result<Handle, SchedError> {
        let timing = Timing {
            worst_case_execution_time: self.dispatch_time,
            period,
            criticality: self.criticality,
            kind,
            ..Timing::default()
        };
        self.repository.register(name, timing)
    }

    /// `consumer` runs for each event of `supplier`.
    fn data(&mut self, consumer: Handle, supplier: Handle, calls: u32) -> Result<(), SchedError> {
        let kind = DependencyKind::OneWayCall;
        self.repository
            .add_dependency(consumer, supplier, calls, kind)
    }

    fn next_name(&mut self) -> String {
        self.nodes += 1;
        format!("{}-{}", self.base, self.nodes)
    }
}

/// Whether a pattern without a group in the schedule may pass one of these events.
fn may_pass(pattern: &Pattern, it: &Publication) -> bool {
    let same =
        |wanted: i32, published: i32| wanted == published || wanted == ANY || published == ANY;
    match pattern {
        Pattern::Leaf { r#type, source } => same(*r#type, it.r#type) && same(*source, it.source),
        Pattern::Conjunction(children) | Pattern::Disjunction(children) => {
            children.iter().any(|child| may_pass(child, it))
        }
        Pattern::LogicalAnd(children) => children.iter().all(|child| may_pass(child, it)),
        Pattern::Bitmask {
            source_mask,
            type_mask,
            child,
        } => {
            let has = |published: i32, mask: i32| published == ANY || published & mask != 0;
            has(it.r#type, *type_mask) && has(it.source, *source_mask) && may_pass(child, it)
        }
        Pattern::MaskedType {
            source_mask,
            type_mask,
            source_value,
            type_value,
        } => {
            let is = |published: i32, mask: i32, value: i32| {
                published == ANY || published & mask == value
            };
            is(it.r#type, *type_mask, *type_value) && is(it.source, *source_mask, *source_value)
        }
        // A negation passes the events that its child does not, which is unknown per publication.
        Pattern::Negation(_) | Pattern::Null => true,
        Pattern::Timeout(_) | Pattern::Interval(_) | Pattern::Deadline(_) => false,
    }
}

/// The handle of that number; an unknown one if the number is invalid.
fn handle(rt_info: i32) -> Handle {
    Handle::from_number(u32::try_from(rt_info).unwrap_or(0))
}

/// Whole units of 100 ns, rounded up.
fn time(duration: Duration) -> Time {
    let ticks = duration.as_nanos().div_ceil(100);
    Time::from_ticks(u64::try_from(ticks).unwrap_or(u64::MAX))
}
