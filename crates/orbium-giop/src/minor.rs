// SPDX-License-Identifier: MIT OR Apache-2.0
//! The one table of minor codes: the OMG's (CORBA 3.3 Part 1, annex A) and
//! orbium's own. Messages, the command line and the documentation all explain
//! a minor code from here.

mod omg;
mod own;
mod page;

use crate::ExceptionKind as Kind;

pub use own::*;
pub use page::{NotAMinorCode, Question};

/// Prefix of the minor codes that the OMG assigned.
pub const OMG_VMCID: u32 = 0x4F4D_0000;
/// Prefix of orbium's own minor codes ("OR@"; not registered with the OMG).
pub const ORBIUM_VMCID: u32 = 0x4F52_4000;

/// The vendor of the minor codes with a prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vendor {
    /// First minor code of the range.
    pub vmcid: u32,
    /// Last minor code of the range.
    pub last: u32,
    /// Name.
    pub name: &'static str,
}

/// The vendors with registered prefixes.
pub const VENDORS: &[Vendor] = &[
    Vendor {
        vmcid: OMG_VMCID,
        last: 0x4F4D_0FFF,
        name: "OMG",
    },
    Vendor {
        vmcid: ORBIUM_VMCID,
        last: 0x4F52_4FFF,
        name: "orbium",
    },
    Vendor {
        vmcid: 0x4154_0000,
        last: 0x4154_FFFF,
        name: "omniORB",
    },
    Vendor {
        vmcid: 0x5441_0000,
        last: 0x5441_FFFF,
        name: "TAO",
    },
    Vendor {
        vmcid: 0x4A41_0000,
        last: 0x4A41_FFFF,
        name: "JacORB",
    },
    Vendor {
        vmcid: 0x5355_0000,
        last: 0x5355_FFFF,
        name: "Sun/GlassFish",
    },
    Vendor {
        vmcid: 0x4942_0000,
        last: 0x4942_FFFF,
        name: "IBM",
    },
];

/// The vendor of a minor code, or `None` for an unknown prefix.
#[must_use]
pub fn vendor(minor: u32) -> Option<&'static Vendor> {
    VENDORS
        .iter()
        .find(|vendor| (vendor.vmcid..=vendor.last).contains(&minor))
}

/// One minor code of one exception.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MinorCode {
    /// The exception.
    pub kind: Kind,
    /// The whole code, prefix included.
    pub minor: u32,
    /// The meaning.
    pub text: &'static str,
}

/// The entry of the table for an exception and minor code.
#[must_use]
pub fn explain(kind: Kind, minor: u32) -> Option<&'static MinorCode> {
    TABLE
        .iter()
        .find(|code| code.kind == kind && code.minor == minor)
}

/// A part of the table: the codes of one vendor and, separately, their pages, so that programs
/// which print no pages do not contain them.
macro_rules! pages {
    ($vmcid:ident; $($kind:ident $minor:literal $text:literal $page:literal;)*) => {
        /// The codes.
        pub(super) const CODES: &[MinorCode] = &[
            $(MinorCode { kind: Kind::$kind, minor: $vmcid | $minor, text: $text },)*
        ];

        /// The text of each page, in the same order.
        pub(super) static PAGES: &[&str] = &[$($page,)*];
    };
}

use pages;

const COUNT: usize = omg::CODES.len() + own::CODES.len();

const ALL: [MinorCode; COUNT] = {
    let mut all = [omg::CODES[0]; COUNT];
    let mut at = 0;
    while at < COUNT {
        all[at] = if at < omg::CODES.len() {
            omg::CODES[at]
        } else {
            own::CODES[at - omg::CODES.len()]
        };
        at += 1;
    }
    all
};

/// All known minor codes, by exception.
pub const TABLE: &[MinorCode] = &ALL;
