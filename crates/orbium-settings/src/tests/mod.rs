// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tests of texts together with the keys that they set.

mod argument_table;
mod arguments;
mod file;
mod foreign;

use orbium_core::Config;

use crate::Configure as _;

#[test]
fn nearly_right_names_are_suggested() {
    let mut config = Config::default();
    for (key, hint) in [
        ("endpiont", "did you mean `endpoint`?"),
        ("limits.conections", "did you mean `limits.connections`?"),
        ("properties.nodelay", "did you mean `no_delay`?"),
        ("quux", "see docs/configuration.md"),
    ] {
        let error = config.set(key, "1").unwrap_err().to_string();
        assert!(error.contains(hint), "{error}");
    }
    assert_eq!(config, Config::default());
}

#[test]
fn protocol_properties_are_keys() {
    let mut config = Config::default();
    config.set("properties.dscp", "46").unwrap();
    assert_eq!(config.properties.dscp, Some(46));
    let error = config.set("properties.dscp", "64").unwrap_err();
    assert_eq!(error.to_string(), "`64` is no value of dscp");
}
