// SPDX-License-Identifier: MIT OR Apache-2.0
//! Public names of the types in public signatures: this error was public in a private module,
//! so that no function of a program could return it.

use orbium_cdr::{Char, CharOutOfRange};

#[test]
fn the_error_of_a_character_has_a_name() {
    let refused: Result<Char, CharOutOfRange> = Char::try_from('€');
    assert_eq!(refused, Err(CharOutOfRange('€')));
}
