// SPDX-License-Identifier: MIT OR Apache-2.0
//! Typing errors, for suggestions.

/// Whether one insertion, removal, replacement or swap of neighbours makes the two equal.
pub(crate) fn within_one_edit(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() <= b.len() {
        (a.as_bytes(), b.as_bytes())
    } else {
        (b.as_bytes(), a.as_bytes())
    };
    let mut same = 0;
    while same < short.len() && short[same] == long[same] {
        same += 1;
    }
    let (short, long) = (&short[same..], &long[same..]);
    match (short, long) {
        ([], []) => true,
        ([p, q, short @ ..], [r, s, long @ ..]) if (p, q) == (s, r) && short == long => true,
        ([_, short @ ..], [_, long @ ..]) if short == long => true,
        (short, [_, long @ ..]) => short == long,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::within_one_edit;

    #[test]
    fn one_slip_is_enough() {
        for slip in [
            "strct", "sstruct", "strutc", "struxt", "struct", "struc", "tstruct",
        ] {
            assert!(
                within_one_edit(slip, "struct") && within_one_edit("struct", slip),
                "{slip}"
            );
        }
        for other in ["stru", "sturtc", "union", "", "structor"] {
            assert!(!within_one_edit(other, "struct"), "{other}");
        }
    }
}
