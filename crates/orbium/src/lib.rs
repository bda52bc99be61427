// SPDX-License-Identifier: MIT OR Apache-2.0
//! A real-time CORBA Object Request Broker
