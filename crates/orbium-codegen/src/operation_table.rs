// SPDX-License-Identifier: MIT OR Apache-2.0
//! The static table by which a skeleton finds an operation.

use orbium_idl::model::Definition;

use crate::codec;
use crate::data::quoted;
use crate::demux::{self, Scattered, Table};
use crate::emit::Emitter;
use crate::operations::Function;

impl Emitter<'_, '_> {
    pub(crate) fn operation_table(&mut self, definition: &Definition, functions: &[Function]) {
        if functions.is_empty() {
            return;
        }
        let name = &self.plan.interface(definition.id).operations;
        let mut wires = Vec::new();
        for function in functions {
            wires.push(function.wire.as_str());
        }
        let numbers = |numbers: &[u16]| {
            numbers
                .iter()
                .map(|n| codec::number(u64::from(*n)))
                .collect::<Vec<_>>()
        };
        let both = |s: &Scattered| vec![numbers(&s.displacements), numbers(&s.slots)];
        let (constructor, key, lists) = match &demux::table(&wires) {
            Table::Octet { at, lowest, slots } => {
                let key = vec![at.to_string(), lowest.to_string()];
                ("by_octet", key, vec![numbers(slots)])
            }
            Table::Word { at, scattered } => {
                let key = vec![codec::number(u64::from(*at)), hex(scattered.multiplier)];
                ("by_word", key, both(scattered))
            }
            Table::Hash { scattered } => {
                let key = vec![hex(scattered.multiplier)];
                ("by_hash", key, both(scattered))
            }
        };
        self.text.blank();
        let left = format!("static {name}: orb::OperationTable");
        let head = format!("orb::OperationTable::{constructor}");
        let wires = wires.iter().map(|wire| quoted(wire)).collect::<Vec<_>>();
        let mut parts = vec![format!("&[{}]", wires.join(", "))];
        parts.extend_from_slice(&key);
        for list in &lists {
            parts.push(format!("&[{}]", list.join(", ")));
        }
        if parts.join(", ").len() <= 60 {
            return self.text.assign_call(&left, &head, &parts, ";");
        }
        let levels = self.text.open_assigned(&left, &head);
        self.text.strings("&", &wires, ",");
        for part in &key {
            self.text.line(format!("{part},"));
        }
        for list in &lists {
            self.text.numbers("&", list, ",");
        }
        self.text.close_assigned(levels);
    }
}

/// Sixteen digits, as the lints want them.
fn hex(number: u64) -> String {
    let digits = format!("{number:016x}");
    let (high, low) = digits.split_at(8);
    let ((a, b), (c, d)) = (high.split_at(4), low.split_at(4));
    format!("0x{a}_{b}_{c}_{d}")
}
