// SPDX-License-Identifier: MIT OR Apache-2.0
//! Copier of valuetypes within anys.

use orbium_cdr::ValueCopier;

type Constructor = fn() -> Box<dyn ValueCopier>;

/// A copier for a new ORB; `None` in a program without the feature `values`.
pub(crate) fn copier() -> Option<Box<dyn ValueCopier>> {
    let constructors: &[Constructor] = &[
        #[cfg(feature = "values")]
        || {
            let factories = orbium_value::Factories::default();
            crate::values::portable_interceptor::register(&factories);
            Box::new(factories)
        },
    ];
    constructors.first().map(|construct| construct())
}
