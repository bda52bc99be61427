// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names that mean something to Rust, to its prelude or to the code generator, in
//! every position that IDL has for a name (`build/names.rs`): what is generated
//! compiles, and without a warning.
//!
//! An IDL type called `S` or `T` was hidden by a type parameter; several results
//! of which one was a local interface derived what a trait object has not; a
//! module was given an import that only its comments or the modules inside named;
//! `get_data__into` was no snake case.
#![deny(warnings)]

#[allow(clippy::all, clippy::pedantic, clippy::restriction)]
pub(super) mod generated {
    orbium::include_idl!("names");
}

use generated::{zq_fixed, zq_locals};

#[test]
fn a_struct_of_any_name_is_a_struct() {
    assert_eq!(zq_fixed::S { zq_x: 1 }, zq_fixed::S { zq_x: 1 });
    assert_eq!(zq_fixed::Self_ { zq_x: 1 }.zq_x, 1);
    assert_eq!(zq_fixed::Option::default().zq_x, 0);
}

#[test]
fn several_results_may_hold_a_local_interface() {
    struct Nothing;
    impl zq_locals::T for Nothing {
        fn zq_get(&self) -> Result<zq_locals::TZqGetResults, orbium::SystemException> {
            Ok(zq_locals::TZqGetResults {
                result: None,
                zq_created: true,
            })
        }
        fn zq_set(
            &self,
            _: Option<&std::sync::Arc<dyn zq_locals::T>>,
        ) -> Result<(), orbium::SystemException> {
            Ok(())
        }
    }
    let results = zq_locals::T::zq_get(&Nothing).expect("nothing fails");
    assert!(results.clone().zq_created && results.result.is_none());
}
