// SPDX-License-Identifier: MIT OR Apache-2.0
//! References in types of programs: the compiler infers `Send` and `Sync` within its default
//! recursion limit.

use std::sync::{Arc, Mutex, RwLock};

use orbium::{ObjectRef, Orb};

type Deep<T> = Nested<Nested<Nested<Nested<Nested<T>>>>>;
type Nested<T> = Arc<Mutex<Vec<Option<Box<RwLock<T>>>>>>;

fn is_shared_by_threads<T: Send + Sync + 'static>() {}

/// Regression: the fields of a reference took most of the limit of 128, so that a program with
/// moderately nested types failed to compile (E0275).
#[test]
fn a_reference_nested_in_a_programs_types_is_shared_by_threads() {
    is_shared_by_threads::<Deep<ObjectRef>>();
    is_shared_by_threads::<Deep<Orb>>();
}
