// SPDX-License-Identifier: MIT OR Apache-2.0
//! The text of the items of a list.
//!
//! A chain of iterators is compiled again for every closure, without
//! optimisation, in every build that has IDL; these are compiled once for each
//! kind of item.

use std::collections::BinaryHeap;

/// The text of each item.
pub(crate) fn each<T>(items: &[T], text: &mut dyn FnMut(&T) -> String) -> Vec<String> {
    let mut texts = Vec::with_capacity(items.len());
    for item in items {
        texts.push(text(item));
    }
    texts
}

/// The text of each item, with something between them.
pub(crate) fn joined<T>(items: &[T], between: &str, text: &mut dyn FnMut(&T) -> String) -> String {
    join(&each(items, text), between)
}

/// Texts with something between them.
pub(crate) fn join(texts: &[String], between: &str) -> String {
    let mut all = String::new();
    for (i, text) in texts.iter().enumerate() {
        if i > 0 {
            all.push_str(between);
        }
        all.push_str(text);
    }
    all
}

/// Numbers in order. A heap sorts with a fifth of the code that sorting a slice
/// compiles.
pub(crate) fn sorted(numbers: Vec<i128>) -> Vec<i128> {
    BinaryHeap::from(numbers).into_sorted_vec()
}
