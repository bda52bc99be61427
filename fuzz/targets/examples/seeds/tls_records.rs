// SPDX-License-Identifier: MIT OR Apache-2.0
//! Seeds of the target `tls_records`: programs that seal and deliver.

use super::Seeds;

/// Of the target: what a program can do.
const DATA: u8 = 0;
const MUCH_DATA: u8 = 1;
const PADDED: u8 = 2;
const KEY_UPDATE: u8 = 3;
const HANDSHAKE: u8 = 4;
const ALERT: u8 = 5;
const OTHER: u8 = 6;
const DELIVER: u8 = 8;
const TAMPER: u8 = 10;

impl Seeds {
    pub(super) fn tls_records(&mut self) {
        let tamper: Vec<_> = (0..6).map(|how| vec![TAMPER, how, 9, 0]).collect();
        let mut endings: Vec<Vec<u8>> = vec![
            vec![],
            vec![ALERT, 1, 0],
            vec![ALERT, 2, 40],
            vec![ALERT, 1, 90, DATA, 1, b'x'],
            vec![HANDSHAKE, 4, 0, 0, 0, 0],
            vec![HANDSHAKE, 6, 4, 0, 0, 2, 1, 1, DATA, 1, b'x'],
            vec![HANDSHAKE, 2, 24, 0, DATA, 1, b'x'],
            vec![OTHER, 20, 1, 1],
            // As many records that bring nothing as must be borne, and one more.
            [&[DATA, 0].repeat(32)[..], &[DATA, 1, b'x']].concat(),
            [DATA, 0].repeat(33),
        ];
        endings.extend(tamper);
        for first in 0..8 {
            for ending in &endings {
                let mut program = vec![first, DATA, 3, b'o', b'n', b'e', DELIVER, 9, 0, 100, 0];
                program.extend([MUCH_DATA, 7, 128, 7, DELIVER, 255, 6, 100, 0]);
                program.extend([PADDED, 2, b'o', b'k', 20, 1]);
                if first & 1 == 0 {
                    program.extend([KEY_UPDATE, 1, DATA, 2, b'o', b'n', KEY_UPDATE, 4]);
                }
                program.extend([DATA, 3, b't', b'w', b'o']);
                program.extend(ending);
                program.extend([DELIVER, 255, 7, 64, 0]);
                self.put(&program);
            }
        }
    }
}
