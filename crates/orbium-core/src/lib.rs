// SPDX-License-Identifier: MIT OR Apache-2.0
//! Object references, invocation, object adapters, dispatch and connections
