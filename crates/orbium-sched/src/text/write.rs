// SPDX-License-Identifier: MIT OR Apache-2.0
//! Writer of tables of RT_Infos.

use std::fmt::Write as _;

use super::word::quote;
use crate::info::{Dependency, DependencyKind, EnableState, RtInfo};
use crate::repository::Repository;

/// The operations of a repository and their dependencies as text for [`parse`](super::parse): equal
/// repositories give equal texts. Assignments are not included.
#[must_use]
pub fn listing(repository: &Repository) -> String {
    let mut text = String::new();
    for info in repository.infos() {
        operation(&mut text, info);
    }
    for info in repository.infos() {
        for it in &info.dependencies {
            dependency(&mut text, repository, info, it);
        }
    }
    text
}

fn operation(text: &mut String, info: &RtInfo) {
    let _ = write!(text, "operation {}", quote(&info.entry_point));
    for (name, value) in info.timing.fields() {
        let value = if value.contains(' ') {
            quote(&value)
        } else {
            value
        };
        let _ = write!(text, " {name}={value}");
    }
    enabled(text, info.state);
    text.push('\n');
}

fn dependency(text: &mut String, repository: &Repository, info: &RtInfo, it: &Dependency) {
    let word = match it.kind {
        DependencyKind::TwoWayCall => "calls",
        DependencyKind::OneWayCall => "consumes",
    };
    let (own, on) = (quote(&info.entry_point), quote(repository.name(it.on)));
    let calls = it.calls;
    let _ = write!(text, "{word} {own} operation={on} times={calls}");
    enabled(text, it.state);
    text.push('\n');
}

fn enabled(text: &mut String, state: EnableState) {
    if state != EnableState::default() {
        let _ = write!(text, " enabled={}", state.name());
    }
}
