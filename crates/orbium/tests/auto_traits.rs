// SPDX-License-Identifier: MIT OR Apache-2.0
//! References in the types of programs: `Send` and `Sync` are worked out within the
//! compiler's default recursion limit.

use std::sync::{Arc, Mutex, RwLock};

use orbium::{ObjectRef, Orb};

type Deep<T> = Nested<Nested<Nested<Nested<Nested<T>>>>>;
type Nested<T> = Arc<Mutex<Vec<Option<Box<RwLock<T>>>>>>;

fn is_shared_by_threads<T: Send + Sync + 'static>() {}

/// What a reference holds once took most of the limit of 128, so that a program whose own
/// types were nested not even deeply failed to compile (E0275).
#[test]
fn a_reference_nested_in_a_programs_types_is_shared_by_threads() {
    is_shared_by_threads::<Deep<ObjectRef>>();
    is_shared_by_threads::<Deep<Orb>>();
}
