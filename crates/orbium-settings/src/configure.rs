// SPDX-License-Identifier: MIT OR Apache-2.0
//! Configurations from files, from `-ORB` arguments and by name: one table of
//! keys for all of them.

use std::path::Path;

use orbium_core::Config;

use crate::lane_name::LANE;
use crate::settings::Settings;
use crate::spelling::not_there;
use crate::value_syntax::Read;
use crate::{ConfigError, ConfigKey, LaneKey, Place};
use crate::{arguments, command_line, file, lane_keys, profiles};

/// The prefix of the names of socket options.
const PROPERTIES: &str = "properties.";

/// Sets the fields of a [`Config`] by the names of its keys.
pub trait Configure: Sized {
    /// The names of all profiles, with their purposes.
    const PROFILES: &'static [(&'static str, &'static str)] = &profiles::PROFILES;

    /// A named profile: a set of values for a purpose.
    ///
    /// # Errors
    /// There is no profile with that name.
    fn profile(name: &str) -> Result<Self, ConfigError>;

    /// Reads a file: TOML with the keys of [`ConfigKey`] and [`LaneKey`], and optionally a
    /// `profile` as the base; or directives of TAO's service configurator.
    ///
    /// ```
    /// use orbium_core::Config;
    /// use orbium_settings::Configure as _;
    ///
    /// let path = std::env::temp_dir().join(format!("orbium-{}.toml", std::process::id()));
    /// std::fs::write(&path, "profile = \"embedded\"\n\n[limits]\nconnectoins = 5\n")?;
    /// let error = Config::from_file(&path).unwrap_err();
    /// std::fs::remove_file(&path)?;
    /// assert!(error.to_string().contains(
    ///     ".toml:4: there is no key `limits.connectoins`: did you mean `limits.connections`?"
    /// ));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// The file cannot be read, or has an invalid line: which one, and the correction.
    fn from_file(path: impl AsRef<Path>) -> Result<Self, ConfigError>;

    /// Applies `-ORB` arguments. They are removed with their values; others remain, and so does
    /// everything from `--` on. A profile and files are applied before the rest, at any position.
    ///
    /// ```
    /// use orbium_core::{Config, ServerStrategy};
    /// use orbium_settings::Configure as _;
    ///
    /// let mut args: Vec<String> = ["server", "-ORBServerStrategy", "reactive", "--verbose"]
    ///     .map(str::to_owned)
    ///     .to_vec();
    /// let config = Config::from_args(&mut args)?;
    /// assert_eq!(config.strategy, ServerStrategy::Reactive);
    /// assert_eq!(args, ["server", "--verbose"]);
    /// # Ok::<(), orbium_settings::ConfigError>(())
    /// ```
    ///
    /// # Errors
    /// An unknown argument that starts with `-ORB`, or a missing or invalid value. No argument is
    /// removed then.
    fn from_args(args: &mut Vec<String>) -> Result<Self, ConfigError>;

    /// Sets a value by name: a [`ConfigKey`], `properties.` with the name of a protocol property,
    /// or `lane.` with the name of a lane, which is created if necessary, and a key of it:
    /// `lane.urgent.priority`.
    ///
    /// # Errors
    /// There is no such key, or the value is invalid for it.
    fn set(&mut self, key: &str, value: &str) -> Result<(), ConfigError>;
}

impl Configure for Config {
    fn profile(name: &str) -> Result<Self, ConfigError> {
        Self::from_profile(name).map_err(|reason| ConfigError::new(Place::Program, reason))
    }

    fn from_file(path: impl AsRef<Path>) -> Result<Self, ConfigError> {
        file::read(path.as_ref(), None)
    }

    fn from_args(args: &mut Vec<String>) -> Result<Self, ConfigError> {
        command_line::take(args)
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), ConfigError> {
        self.put(key, value)
            .map_err(|reason| ConfigError::new(Place::Program, reason))
    }
}

fn put_property(config: &mut Config, property: &str, value: &str) -> Read<()> {
    use orbium_sys::OptionError::{BadValue, Unknown};

    match config.properties.set(property, value) {
        Ok(()) => Ok(()),
        Err(BadValue) => Err(format!("`{value}` is no value of {property}")),
        Err(Unknown) => {
            let names = orbium_sys::SocketOptions::TCP_NAMES.iter();
            let names = names.chain(orbium_sys::SocketOptions::MULTICAST_NAMES);
            Err(not_there("protocol property", property, names.copied()))
        }
    }
}

impl Settings for Config {
    fn from_profile(name: &str) -> Read<Self> {
        profiles::profile(name).ok_or_else(|| {
            let names: Vec<_> = profiles::PROFILES.iter().map(|(name, _)| *name).collect();
            format!("there is no profile `{name}`: write {}", names.join(", "))
        })
    }

    fn put(&mut self, name: &str, value: &str) -> Read<()> {
        if let Some(property) = name.strip_prefix(PROPERTIES) {
            return put_property(self, property, value);
        }
        if let Some(path) = name.strip_prefix(LANE) {
            return lane_keys::put(&mut self.lanes, path, value);
        }
        if name.starts_with("tls.") && !Self::has_tls() {
            return Err(format!(
                "`{name}`: this program was built without orbium's feature `tls`"
            ));
        }
        match ConfigKey::ALL.iter().find(|key| key.name == name) {
            Some(key) => (key.set)(self, value),
            None => {
                if let Some(done) = arguments::property(self, name, value) {
                    return done;
                }
                let all = ConfigKey::ALL.iter().map(|key| key.name);
                Err(not_there("key", name, all))
            }
        }
    }

    fn begin_lane(&mut self, name: &str) -> Read<()> {
        lane_keys::begin(&mut self.lanes, name.to_owned())
    }

    fn value_of(key: &str) -> Option<&'static str> {
        if let Some((_, key)) = key.strip_prefix(LANE).and_then(|path| path.split_once('.')) {
            let key = LaneKey::ALL.iter().find(|known| known.name == key)?;
            return Some(key.value);
        }
        let key = ConfigKey::ALL.iter().find(|known| known.name == key)?;
        Some(key.value)
    }
}
