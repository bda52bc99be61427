// SPDX-License-Identifier: MIT OR Apache-2.0
//! Results of the analysis, at the annotations that they concern.

use orbium_idl::{Diagnostic, Excerpt, Label, Severity};
use orbium_sched::{Anomaly, AnomalyKind, Handle, SchedError, Schedule};

use crate::requirements::{Requirement, Requirements};

impl Requirements {
    /// The anomalies of a schedule of [`Requirements::repository`] as diagnostics.
    #[must_use]
    pub fn findings(&self, schedule: &Schedule) -> Vec<Diagnostic> {
        let anomalies = schedule.anomalies.iter();
        anomalies.map(|it| self.finding(it)).collect()
    }

    fn finding(&self, anomaly: &Anomaly) -> Diagnostic {
        let (other, message) = match anomaly.kind {
            AnomalyKind::TwoEntryPoints { caller } => (Some(caller), "its caller"),
            AnomalyKind::CriticalDependsOnLess { supplier } => (Some(supplier), "its supplier"),
            AnomalyKind::WaitsForRemote { operation } => (Some(operation), "the called operation"),
            _ => (None, ""),
        };
        let label = other.and_then(|it| self.place(it)).map(|excerpt| Label {
            excerpt,
            message: message.to_owned(),
        });
        Diagnostic {
            severity: match anomaly.severity {
                orbium_sched::Severity::Warning => Severity::Warning,
                orbium_sched::Severity::Error => Severity::Error,
            },
            code: anomaly.kind.code(),
            message: anomaly.description.clone(),
            excerpt: anomaly.handle.and_then(|it| self.place(it)),
            labels: label.into_iter().collect(),
            help: None,
        }
    }

    /// The reason why there is no schedule, as a diagnostic.
    #[must_use]
    pub fn refusal(&self, error: &SchedError) -> Diagnostic {
        let (code, about) = match error {
            SchedError::CyclicDependencies(path) => ("cyclic-dependencies", path.first()),
            SchedError::DuplicateName(name) => ("duplicate-name", Some(name)),
            SchedError::PeriodTooLong(name) => ("period-too-long", Some(name)),
            SchedError::InsufficientPriorityLevels { .. } => ("insufficient-priority-levels", None),
            _ => ("no-schedule", None),
        };
        let named = |name: &&String| {
            let mut operations = self.operations.iter().rev();
            operations.find(|it: &&Requirement| it.name == **name)
        };
        let help = matches!(error, SchedError::CyclicDependencies(_));
        Diagnostic {
            severity: Severity::Error,
            code,
            message: error.to_string(),
            excerpt: about.as_ref().and_then(named).map(|it| it.excerpt.clone()),
            labels: Vec::new(),
            help: help.then(|| "make one operation of those that call one another".to_owned()),
        }
    }

    fn place(&self, handle: Handle) -> Option<Excerpt> {
        let index = (handle.number() as usize).checked_sub(1)?;
        Some(self.operations.get(index)?.excerpt.clone())
    }
}
