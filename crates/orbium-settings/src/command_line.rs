// SPDX-License-Identifier: MIT OR Apache-2.0
//! The configuration of a command line.

use std::path::Path;

use crate::arguments::{Effect, put, split};
use crate::settings::Settings;
use crate::{ConfigError, file};

/// The configuration described by `-ORB` arguments, which are removed.
///
/// # Errors
/// An unknown argument that starts with `-ORB`, or a missing or invalid value. No argument is
/// removed then.
pub(crate) fn take<S: Settings>(args: &mut Vec<String>) -> Result<S, ConfigError> {
    let (taken, others) = split(args.iter().map(String::as_str))?;
    let mut config: Option<S> = None;
    for argument in &taken {
        if let Effect::Profile = argument.effect {
            let profile = S::from_profile(&argument.value);
            config = Some(profile.map_err(|reason| argument.failed(reason))?);
        }
    }
    for argument in &taken {
        if let Effect::File = argument.effect {
            config = Some(file::read(Path::new(&argument.value), config)?);
        }
    }
    let mut config = config.unwrap_or_default();
    for argument in &taken {
        let put = put(&mut config, argument.effect, &argument.value);
        put.map_err(|reason| argument.failed(reason))?;
    }
    *args = others;
    Ok(config)
}
