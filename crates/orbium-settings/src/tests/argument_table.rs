// SPDX-License-Identifier: MIT OR Apache-2.0
//! Each row of the table of arguments.

use crate::arguments::{ARGUMENTS, Effect};
use crate::settings::Settings as _;

use orbium_core::Config;

use crate::{ConfigKey, Configure as _};

/// A configuration after one argument, or its error.
fn after(name: &str, value: &str) -> Result<Config, String> {
    let mut args = vec![name.to_owned(), value.to_owned()];
    let config = Config::from_args(&mut args);
    config.map_err(|error| error.to_string())
}

fn with(key: &str, value: &str) -> Config {
    let mut config = Config::default();
    config.set(key, value).unwrap();
    config
}

/// Each row of the table alone: it has the effect of setting its key, or its error has the
/// replacement.
#[test]
fn each_argument_does_what_its_row_says() {
    let default = Config::default();
    for (name, effect) in ARGUMENTS {
        match *effect {
            Effect::Set(key) | Effect::Text(key) => {
                let value = match key {
                    "initial_reference" => "A=corbaloc::h:1/A",
                    "server_strategy" => "reactive",
                    "client_strategy" => "io-thread",
                    "protocols" | "client_protocols" => "iiop",
                    "native_char_code_set" => "UTF-8",
                    "tls.client_certificates" => "require",
                    "tls.versions" => "1.3",
                    "metrics" | "watch" | "tls.require" => "true",
                    "properties.no_delay" | "properties.keep_alive" => "1",
                    key if key.ends_with("timeout") => "77 ms",
                    _ => "77",
                };
                assert_eq!(after(name, value), Ok(with(key, value)), "{name}");
            }
            Effect::Milliseconds(key) => {
                assert_eq!(after(name, "70"), Ok(with(key, "70 ms")), "{name}");
                match key {
                    // A handshake without a time-out is not supported.
                    "tls.handshake_time" => drop(after(name, "0").unwrap_err()),
                    // Regression: refused for `connect_timeout`.
                    _ => assert_eq!(after(name, "0"), Ok(with(key, "none")), "{name}"),
                }
            }
            Effect::Seconds(key) => {
                assert_eq!(after(name, "70"), Ok(with(key, "70 s")), "{name}");
                assert_eq!(after(name, "0"), Ok(with(key, "none")), "{name}");
            }
            Effect::Choose(key, words) => {
                for (theirs, ours) in words {
                    assert_eq!(after(name, theirs), Ok(with(key, ours)), "{name}");
                }
                let refused = after(name, "?!").unwrap_err();
                assert!(refused.contains(words[0].0), "{refused}");
            }
            Effect::Instead(ours) => {
                let refused = after(name, "1").unwrap_err();
                assert!(refused.contains(ours), "{refused}");
            }
            Effect::OneOf(all) => {
                assert_eq!(after(name, all[0]).as_ref(), Ok(&default), "{name}");
                assert!(after(name, "?!").unwrap_err().contains(all[0]), "{name}");
            }
            Effect::Ignore => assert_eq!(after(name, "1").as_ref(), Ok(&default), "{name}"),
            Effect::Listen => {
                let both = after(name, "iiop://:1;uiop:///x").unwrap();
                assert_eq!(both.endpoints.len(), 2, "{name}");
            }
            Effect::Any => assert_eq!(after(name, "giop_minor=1"), Ok(with("giop_minor", "1"))),
            Effect::Profile => assert_eq!(
                after(name, "embedded"),
                Ok(Config::profile("embedded").unwrap())
            ),
            Effect::File => assert!(after(name, "/no/such").unwrap_err().contains("/no/such")),
            Effect::Flag(..) | Effect::Pem(_) => panic!("{name}: TAO's factory has these alone"),
        }
    }
}

/// Each argument sets an existing key.
#[test]
fn every_argument_leads_to_a_key() {
    for (name, effect) in ARGUMENTS {
        let (Effect::Set(key)
        | Effect::Text(key)
        | Effect::Milliseconds(key)
        | Effect::Seconds(key)
        | Effect::Choose(key, _)) = effect
        else {
            continue;
        };
        if let Effect::Choose(key, words) = effect {
            for (_, ours) in *words {
                Config::default().put(key, ours).unwrap();
            }
        }
        let property = key.strip_prefix("properties.");
        let names = orbium_sys::SocketOptions::TCP_NAMES;
        assert!(
            ConfigKey::ALL.iter().any(|known| known.name == *key)
                || property.is_some_and(|property| names.contains(&property)),
            "{name}: {key}"
        );
    }
}
