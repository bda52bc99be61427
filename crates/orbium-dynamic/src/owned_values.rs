// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values of valuetypes without other handles.

use orbium_value::ValueBase;

/// All values of graphs to which the holder has the only handles: their cycles are broken when it
/// is dropped.
#[derive(Default)]
pub(crate) struct OwnedValues(pub(crate) Vec<ValueBase>);

impl Drop for OwnedValues {
    fn drop(&mut self) {
        self.0.iter().for_each(ValueBase::clear_state);
    }
}
