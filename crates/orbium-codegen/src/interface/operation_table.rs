// SPDX-License-Identifier: MIT OR Apache-2.0
//! The table in which a skeleton looks an operation up.

use crate::emit::Emitter;
use crate::interface::demux::{self, Scattered, Table};
use crate::types::codec;

impl Emitter<'_, '_> {
    /// `operations by_word(…);`: the perfect hash of the operations' names; see `OperationTable` in
    /// the runtime. None for names that no table distinguishes: their interface is left out.
    pub(crate) fn operation_table(&mut self, wires: &[&str]) {
        if wires.is_empty() {
            return;
        }
        let Some(table) = demux::table(wires) else {
            return;
        };
        let (constructor, key, lists) = match &table {
            Table::Octet { at, lowest, slots } => {
                let key = vec![at.to_string(), lowest.to_string()];
                ("by_octet", key, vec![slots.clone()])
            }
            Table::Word { at, scattered } => {
                let key = vec![codec::number(u64::from(*at)), hex(scattered.multiplier)];
                ("by_word", key, both(scattered))
            }
            Table::Hash { scattered } => {
                ("by_hash", vec![hex(scattered.multiplier)], both(scattered))
            }
        };
        let mut pieces = Vec::new();
        for part in key {
            pieces.push(format!("{part},"));
        }
        for list in &lists {
            for (i, number) in list.iter().enumerate() {
                let start = if i == 0 { "&[" } else { "" };
                let end = if i + 1 == list.len() { "]" } else { "" };
                pieces.push(format!(
                    "{start}{}{end},",
                    codec::number(u64::from(*number))
                ));
            }
        }
        if let Some(first) = pieces.first_mut() {
            first.insert_str(0, &format!("operations {constructor}("));
        }
        if let Some(last) = pieces.last_mut() {
            last.pop();
            last.push_str(");");
        }
        self.text.filled(&pieces);
    }
}

fn both(scattered: &Scattered) -> Vec<Vec<u16>> {
    vec![scattered.displacements.clone(), scattered.slots.clone()]
}

/// Sixteen digits, as lints require.
fn hex(number: u64) -> String {
    let digits = format!("{number:016x}");
    let (high, low) = digits.split_at(8);
    let ((a, b), (c, d)) = (high.split_at(4), low.split_at(4));
    format!("0x{a}_{b}_{c}_{d}")
}
