// SPDX-License-Identifier: MIT OR Apache-2.0
//! The annotation `@ami`, which requests or excludes asynchronous forms.

use std::iter;

use orbium_idl_model::{Annotation, AnnotationValue, ConstValue, DefId, Model};

/// The value of an annotation `@ami`; `None` for other annotations, and for an invalid argument.
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

/// The value of the innermost annotation `@ami` of a feature or around it; `None` if there is none.
pub(crate) fn said_of(model: &Model, feature: DefId) -> Option<bool> {
    iter::successors(Some(feature), |id| model[*id].parent)
        .find_map(|id| model[id].annotations.iter().rev().find_map(said))
}
