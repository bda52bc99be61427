// SPDX-License-Identifier: MIT OR Apache-2.0
//! Selection of an ORB among those that the processes of this user publish.

use std::time::Duration;

use orbium::metrics::exposition::watch::{self, Watched};

use crate::error::TopError;
use crate::watch_object::{self, printable};

/// The advice if no ORB is published.
pub(crate) const WATCH_ADVICE: &str = "a process shows its ORB after orb.watch(), with watch = true in \
                                       its configuration, or with the argument -ORBwatch true";

/// Time-out of a reply while ORBs are listed: one process may be stopped.
const LISTING_PATIENCE: Duration = Duration::from_secs(2);

/// Selection of one of the ORBs that the processes of this user publish.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// The process; any process if it is `None`.
    pub pid: Option<u32>,
    /// The number among the ORBs of the process, in the order in which they were published: from 1.
    pub number: Option<usize>,
    /// The name of the ORB (`orb_id`, `-ORBId`).
    pub orb_id: Option<String>,
}

impl Selection {
    /// Process `4711`, or the second ORB of it for `4711-2`; `None` for any other text.
    #[must_use]
    pub fn of_process(text: &str) -> Option<Self> {
        let (pid, number) = match text.split_once('-') {
            Some((pid, number)) => (pid, Some(number.parse().ok()?)),
            None => (text, None),
        };
        Some(Self {
            pid: Some(pid.parse().ok()?),
            number,
            orb_id: None,
        })
    }

    /// The only selected ORB, with its number if its process publishes several.
    pub(crate) fn only(&self) -> Result<(Watched, Option<usize>), TopError> {
        let all = watch::alive().map_err(|error| {
            TopError::because(format!("the folder of the sockets cannot be used: {error}"))
        })?;
        let of_process = |it: &Watched| self.pid.is_none_or(|pid| it.pid == pid);
        let all: Vec<_> = all.into_iter().filter(of_process).collect();
        if all.is_empty() {
            let nothing = self.pid.map_or_else(
                || "no process of this user shows its ORB".to_owned(),
                |pid| format!("process {pid} does not show its ORB"),
            );
            return Err(TopError::because(format!("{nothing}: {WATCH_ADVICE}")));
        }
        let is_meant = |it: &&Watched| {
            self.number.is_none_or(|number| it.number == number)
                && self.orb_id.as_ref().is_none_or(|name| is_named(it, name))
        };
        let meant: Vec<_> = all.iter().filter(is_meant).cloned().collect();
        match &meant[..] {
            [only] => {
                let number = has_siblings(only, &all).then_some(only.number);
                Ok((only.clone(), number))
            }
            [] => Err(listed("there is no such ORB", &all, &all)),
            several => Err(listed("several ORBs show themselves", several, &all)),
        }
    }
}

fn is_named(one: &Watched, name: &str) -> bool {
    let watch = watch_object::at(&Watched::url_of(&one.path), LISTING_PATIENCE);
    watch.is_ok_and(|it| watch_object::orb_id(&it) == name)
}

fn has_siblings(one: &Watched, all: &[Watched]) -> bool {
    all.iter().filter(|it| it.pid == one.pid).count() > 1
}

/// The description of an ORB: its program, its name, its first endpoint.
fn description(one: &Watched) -> Option<String> {
    let watch = watch_object::at(&Watched::url_of(&one.path), LISTING_PATIENCE).ok()?;
    let snapshot = watch.look().ok()?;
    let mut text = snapshot.program;
    let orb_id = watch_object::orb_id(&watch);
    if !orb_id.is_empty() {
        text += &format!(", `{orb_id}`");
    }
    let mut endpoints = snapshot.lanes.into_iter().flat_map(|it| it.endpoints);
    let endpoint = endpoints.next();
    let text = text + ", " + endpoint.as_deref().unwrap_or("listens nowhere");
    Some(printable(&text))
}

/// The error that requests a choice among `some`.
fn listed(why: &str, some: &[Watched], all: &[Watched]) -> TopError {
    let ways = some.iter().map(|one| {
        let number = has_siblings(one, all).then(|| format!("-{}", one.number));
        let described = description(one).unwrap_or_else(|| "does not answer".to_owned());
        format!("{}{} ({described})", one.pid, number.unwrap_or_default())
    });
    let ways: Vec<_> = ways.collect();
    TopError::because(format!("{why}: name one of {}", ways.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::Selection;

    #[test]
    fn a_process_is_selected_by_its_id_and_perhaps_a_number() {
        let selected = |text| Selection::of_process(text).map(|it| (it.pid, it.number));
        assert_eq!(selected("4711"), Some((Some(4711), None)));
        assert_eq!(selected("4711-2"), Some((Some(4711), Some(2))));
        for other in ["", "-2", "4711-", "4711-x", "server-2", "corbaloc::h:1/K"] {
            assert_eq!(selected(other), None, "{other}");
        }
    }
}
