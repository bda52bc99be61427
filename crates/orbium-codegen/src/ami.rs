// SPDX-License-Identifier: MIT OR Apache-2.0
//! The annotation `@ami`: where asynchronous forms are wanted, and where not.

use std::iter;

use orbium_idl_model::{Annotation, AnnotationValue, ConstValue, DefId, Model};

/// What an annotation `@ami` says: nothing if it is another one, or if its
/// argument makes no sense.
pub(crate) fn said(annotation: &Annotation) -> Option<bool> {
    if annotation.name != "ami" {
        return None;
    }
    match annotation.parameter("value") {
        None if annotation.parameters.is_empty() => Some(true),
        Some(AnnotationValue::Const(ConstValue::Boolean(wanted))) => Some(*wanted),
        _ => None,
    }
}

/// What the innermost annotation `@ami` of a feature or around it says; nothing if there is none.
pub(crate) fn said_of(model: &Model, feature: DefId) -> Option<bool> {
    iter::successors(Some(feature), |id| model[*id].parent)
        .find_map(|id| model[id].annotations.iter().rev().find_map(said))
}
