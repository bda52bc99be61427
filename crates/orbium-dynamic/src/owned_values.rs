// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values of valuetypes that nothing else has handles on.

use orbium_value::ValueBase;

/// All values of graphs of which the holder has the only handles: cycles of them are broken at its
/// end.
#[derive(Default)]
pub(crate) struct OwnedValues(pub(crate) Vec<ValueBase>);

impl Drop for OwnedValues {
    fn drop(&mut self) {
        self.0.iter().for_each(ValueBase::clear_state);
    }
}
