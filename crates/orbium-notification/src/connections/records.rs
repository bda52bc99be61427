// SPDX-License-Identifier: MIT OR Apache-2.0
//! Records of objects, as the IDL compiler maps them.

mod generated {
    orbium::include_idl!("Records");
}

pub(crate) use generated::records::*;
