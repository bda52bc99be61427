// SPDX-License-Identifier: MIT OR Apache-2.0
//! The OMG IDL front end: preprocessor, parser, resolver, checked model, diagnostics
