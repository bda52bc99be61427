// SPDX-License-Identifier: MIT OR Apache-2.0
//! Constraints of filters: the constraint language of the Trading Service with the extensions of
//! the Notification Service (`EXTENDED_TCL`), as values without objects.

mod availability;
mod component;
mod cursor;
mod error;
mod evaluate;
pub(crate) mod filter_group;
pub(crate) mod filter_table;
pub(crate) mod filters;
pub(crate) mod mapping;
mod node_count;
mod operand;
mod parse;
mod place;
mod syntax;
mod token;

pub use error::{ConstraintError, ConstraintErrorKind};
pub use parse::ConstraintLimits;
pub use place::Subject;

use evaluate::Evaluation;
use syntax::Tree;

/// A parsed constraint.
///
/// ```
/// use orbium_notification::{Constraint, Subject, structured_event};
///
/// let constraint: Constraint = "$type_name == 'Alarm' and $severity > 3".parse()?;
/// let mut event = structured_event("Telecom", "Alarm", "link 7");
/// event.filterable_data.push(orbium_notification::property("severity", 5i16));
/// assert_eq!(constraint.evaluate(Subject::Structured(&event)), Some(true));
/// # Ok::<(), orbium_notification::ConstraintError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Constraint(Tree);

impl Constraint {
    /// Parses a constraint; an empty one is TRUE.
    ///
    /// # Errors
    /// [`ConstraintError`]: the kind and position of the error, or the exceeded limit.
    pub fn parse(text: &str, limits: &ConstraintLimits) -> Result<Self, ConstraintError> {
        parse::parse(text, limits).map(Self)
    }

    /// The number of its operands, operators and steps of components.
    pub(crate) fn nodes(&self) -> usize {
        self.0.count
    }

    /// The value for an event. `None`: it has none, as a component is missing, a type does not
    /// match, a number is divided by zero or overflows; the event does not match then.
    #[must_use]
    pub fn evaluate(&self, subject: Subject<'_>) -> Option<bool> {
        let tree = &self.0;
        let value = Evaluation { tree, subject }.value(tree.root);
        value.and_then(|it| it.to_bool()).ok()
    }
}

impl std::str::FromStr for Constraint {
    type Err = ConstraintError;

    /// As [`Constraint::parse`] with the default limits.
    fn from_str(text: &str) -> Result<Self, ConstraintError> {
        Self::parse(text, &ConstraintLimits::default())
    }
}
