// SPDX-License-Identifier: MIT OR Apache-2.0
//! RIOP's service context.

use orbium_qos::riop::{decode, encode};

/// Whatever is read can be written, and reads equal.
pub fn riop(input: &[u8]) {
    let Ok(qos) = decode(input) else {
        return;
    };
    let written = encode(&qos).expect("what was read fits");
    assert_eq!(decode(&written), Ok(qos));
}
