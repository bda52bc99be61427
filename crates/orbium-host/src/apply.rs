// SPDX-License-Identifier: MIT OR Apache-2.0
//! Applying a plan: completely, or not at all.

use std::fmt;
use std::io;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::journal::Journal;
use super::plan::Plan;
use super::step::{Change, Create, Schedule, Step, Write};
use super::tree::{Tree, shown};
use super::undo::undo_step;
use super::{settings, steering, threads};

/// Time-out for the threads of an interface to appear.
const THREADS_APPEAR: Duration = Duration::from_secs(5);

/// Errors of the kernel for an interrupt that it does not move.
const EPERM: i32 = 1;
const EIO: i32 = 5;

/// Reason why a plan was not applied. The host is unchanged, except for the steps in `left`.
pub enum Refusal {
    /// An earlier plan is in force.
    Applied(String),
    /// The host has changed since the plan was made, or lacks a setting.
    Differs(Vec<String>),
    /// The journal cannot be written.
    Journal(String),
    /// A step failed; the steps before it are undone.
    Failed {
        /// The step.
        step: String,
        /// The reason of the failure.
        reason: String,
        /// Steps that could not be undone, each with the reason.
        left: Vec<String>,
    },
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Refusal {}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Applied(journal) => write!(
                f,
                "a plan is in force already ({journal}): orbium host undo comes first"
            ),
            Self::Differs(reasons) => {
                write!(f, "nothing is changed: {}", reasons.join("; "))
            }
            Self::Journal(reason) => write!(f, "nothing is changed: {reason}"),
            Self::Failed { step, reason, left } if left.is_empty() => {
                write!(f, "{step}: {reason}; everything is as before")
            }
            Self::Failed { step, reason, left } => write!(
                f,
                "{step}: {reason}; not undone, and still in the journal: {}",
                left.join("; ")
            ),
        }
    }
}

/// The outcome of a plan that is in force.
#[derive(Debug)]
pub struct Applied {
    /// The number of applied steps.
    pub done: usize,
    /// Interrupts that the kernel does not move, each with the reason. They are as before.
    pub left: Vec<String>,
}

/// The reason why a step was not applied.
enum Fault {
    /// The kernel never permits it.
    Immovable(String),
    /// It failed.
    Failed(String),
}

impl From<String> for Fault {
    fn from(reason: String) -> Self {
        Self::Failed(reason)
    }
}

/// Applies a plan. The journal is on disk before the first change.
///
/// # Errors
/// [`Refusal`]: the host is unchanged, except for the steps that it names.
pub fn apply(plan: &Plan, tree: &Tree, journal: &Journal) -> Result<Applied, Refusal> {
    if journal.exists() {
        return Err(Refusal::Applied(journal.path().display().to_string()));
    }
    let reasons: Vec<String> = plan
        .step
        .iter()
        .filter_map(|step| Some(format!("{step}: {}", obstacle(step, tree)?)))
        .collect();
    if !reasons.is_empty() {
        return Err(Refusal::Differs(reasons));
    }
    let mut steps = plan.step.clone();
    journal.write(&steps).map_err(Refusal::Journal)?;
    let mut immovable = Vec::new();
    let mut left = Vec::new();
    for at in 0..steps.len() {
        match perform(&mut steps, at, tree, journal) {
            Ok(()) => {}
            Err(Fault::Immovable(reason)) => {
                immovable.push(at);
                left.push(format!("{}: {reason}", steps[at]));
            }
            Err(Fault::Failed(reason)) => {
                let step = steps[at].to_string();
                let left = take_back(&steps[..=at], tree, journal);
                return Err(Refusal::Failed { step, reason, left });
            }
        }
    }
    // The last one first: those before it keep their places.
    for at in immovable.into_iter().rev() {
        steps.remove(at);
    }
    if !left.is_empty() {
        left.extend(keep(&steps, journal).err());
    }
    let done = steps.len();
    Ok(Applied { done, left })
}

/// The reason why a step cannot be applied, checked before the first change.
fn obstacle(step: &Step, tree: &Tree) -> Option<String> {
    match &step.change {
        Change::Write(Write { file, from, .. }) => match settings::value(tree, file) {
            None => Some("the host does not have it".to_owned()),
            Some(now) if now != *from => {
                let (now, from) = (shown(&now), shown(from));
                Some(format!("it is {now} now, not {from} as planned"))
            }
            Some(_) => None,
        },
        Change::Create(Create { file, .. }) => {
            tree.has(file).then(|| "the file exists already".to_owned())
        }
        Change::Schedule(Schedule { interface, .. }) => {
            let is_there = tree.has(&format!("/sys/class/net/{interface}"));
            let reason = match (tree.is_copy(), is_there) {
                (true, _) => "the copy of a host has no threads",
                (_, false) => "no such interface",
                _ => return None,
            };
            Some(reason.to_owned())
        }
        Change::Steer(_) if tree.is_copy() => Some("the copy of a host has no filters".to_owned()),
        Change::Steer(filter) => steering::must_be_enabled(&filter.interface).err(),
    }
}

/// Applies one step. Facts that are known only now, such as threads and numbers of filters, are
/// written to the journal: threads before they are changed, filters as soon as they have a number.
fn perform(steps: &mut [Step], at: usize, tree: &Tree, journal: &Journal) -> Result<(), Fault> {
    match &mut steps[at].change {
        Change::Write(write) => return set(tree, write),
        Change::Create(create) => tree.create(&create.file, &create.text)?,
        Change::Schedule(schedule) => {
            let (interface, fifo) = (schedule.interface.clone(), schedule.fifo);
            let found = appeared(tree, &interface)?;
            let before = found.iter().cloned();
            schedule.before = before
                .map(|(thread, name)| threads::before(thread, name))
                .collect::<Result<_, _>>()?;
            journal.write(steps)?;
            found
                .into_iter()
                .try_for_each(|(thread, _)| threads::set_fifo(thread, fifo))?;
        }
        Change::Steer(filter) => {
            let (rules, outcome) = steering::add(filter);
            filter.rules = rules;
            journal.write(steps).and(outcome)?;
        }
    }
    Ok(())
}

/// Writes a setting and checks that the kernel has accepted it.
fn set(tree: &Tree, write: &Write) -> Result<(), Fault> {
    tree.write(&write.file, &write.to).map_err(|error| {
        if settings::is_interrupt(&write.file) && is_immovable(&error) {
            Fault::Immovable(error.to_string())
        } else {
            Fault::Failed(error.to_string())
        }
    })?;
    match settings::value(tree, &write.file) {
        Some(now) if now == write.to => Ok(()),
        Some(now) => {
            // An undo restores what was applied alone: it would leave a value that the kernel has
            // rewritten, and the journal with it. Whether this succeeds, the undo finds out.
            let _ = tree.write(&write.file, &write.from);
            Err(format!("the kernel made {} of it", shown(&now)).into())
        }
        None => Err("it cannot be read any more".to_owned().into()),
    }
}

/// Whether the kernel manages an interrupt itself: EIO, and EPERM in newer kernels.
fn is_immovable(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(EIO | EPERM))
}

/// The threads of an interface, which the kernel starts when it is switched to them.
fn appeared(tree: &Tree, interface: &str) -> Result<Vec<(u32, String)>, String> {
    let until = Instant::now() + THREADS_APPEAR;
    loop {
        let found = threads::of_interface(tree, interface);
        if !found.is_empty() {
            return Ok(found);
        }
        if Instant::now() >= until {
            return Err(
                "the interface has no receiving threads: its driver has no NAPI".to_owned(),
            );
        }
        sleep(Duration::from_millis(5));
    }
}

/// Undoes steps, the last one first; those that cannot be undone stay in the journal.
fn take_back(steps: &[Step], tree: &Tree, journal: &Journal) -> Vec<String> {
    let mut left = Vec::new();
    let mut reasons = Vec::new();
    for step in steps.iter().rev() {
        if let Err(reason) = undo_step(step, tree) {
            reasons.push(format!("{step}: {reason}"));
            left.insert(0, step.clone());
        }
    }
    reasons.extend(keep(&left, journal).err());
    reasons
}

/// Reduces the journal to the steps that are in force.
fn keep(steps: &[Step], journal: &Journal) -> Result<(), String> {
    if steps.is_empty() {
        journal.remove()
    } else {
        journal.write(steps)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Error;

    use super::is_immovable;

    /// Older kernels give EIO for an interrupt that they manage, newer ones EPERM. EACCES is ours.
    #[test]
    fn interrupts_of_the_kernel_are_immovable() {
        let errors = [5, 1, 13, 22].map(|number| is_immovable(&Error::from_raw_os_error(number)));
        assert_eq!(errors, [true, true, false, false]);
    }
}
