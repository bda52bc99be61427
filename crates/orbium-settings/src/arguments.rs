// SPDX-License-Identifier: MIT OR Apache-2.0
//! `-ORB` arguments (CORBA 3.3 Part 1, clause 8.5.1): those of orbium, and equivalent ones of TAO
//! and omniORB.

mod effect;
mod foreign;
mod table;

pub(crate) use effect::Effect;
pub(crate) use foreign::JACORB;
#[cfg(test)]
pub(crate) use foreign::SSLIOP;
pub(crate) use table::ARGUMENTS;

use crate::settings::Settings;
use crate::spelling::not_there;
use crate::value_syntax::{Read, milliseconds, seconds};
use crate::{ConfigError, Place};

/// An argument and its value.
pub(crate) struct Taken {
    /// The argument as written.
    shown: String,
    pub(crate) effect: Effect,
    pub(crate) value: String,
}

impl Taken {
    pub(crate) fn failed(&self, reason: String) -> ConfigError {
        ConfigError::new(Place::Argument(self.shown.clone()), reason)
    }
}

/// Finds the argument for a word, and its value if that is in the same word.
fn recognise(word: &str) -> Read<(Effect, Option<&str>)> {
    let whole = ARGUMENTS.iter().find(|(name, _)| *name == word);
    if let Some((_, effect)) = whole {
        return Ok((*effect, None));
    }
    // `-ORBnamevalue` is legal as well.
    let starts = ARGUMENTS.iter().filter(|(name, _)| word.starts_with(name));
    let longest = starts.max_by_key(|(name, _)| name.len());
    let joined = longest.map(|(name, effect)| (*effect, &word[name.len()..]));
    match joined.filter(|(effect, value)| !continues_name(*effect, value)) {
        Some((effect, value)) => Ok((effect, Some(value))),
        None => {
            let names = ARGUMENTS.iter().map(|(name, _)| *name);
            Err(not_there("argument", word, names))
        }
    }
}

/// Whether what follows the name of an argument in a word makes it another name, such as
/// `-ORBIdleConnections`: no value of any text begins with a letter there.
fn continues_name(effect: Effect, rest: &str) -> bool {
    matches!(effect, Effect::Text(_) | Effect::File)
        && rest.starts_with(|c: char| c.is_ascii_alphabetic())
}

fn is_ours(word: &str) -> bool {
    word.starts_with("-ORB")
}

/// Splits words into arguments with values and other words.
pub(crate) fn split<'w>(
    mut words: impl Iterator<Item = &'w str>,
) -> Result<(Vec<Taken>, Vec<String>), ConfigError> {
    let (mut taken, mut others) = (Vec::new(), Vec::new());
    while let Some(word) = words.next() {
        if word == "--" {
            others.push(word.to_owned());
            others.extend(words.by_ref().map(str::to_owned));
        } else if is_ours(word) {
            let failed = |reason| ConfigError::new(Place::Argument(word.to_owned()), reason);
            let (effect, value) = recognise(word).map_err(failed)?;
            let value = value.or_else(|| words.next().filter(|next| !is_ours(next)));
            let value = value.ok_or_else(|| failed("has no value behind it".to_owned()))?;
            taken.push(Taken {
                shown: word.to_owned(),
                effect,
                value: value.to_owned(),
            });
        } else {
            others.push(word.to_owned());
        }
    }
    Ok((taken, others))
}

/// Applies the arguments in a file.
pub(crate) fn apply<'w>(
    config: &mut impl Settings,
    words: impl Iterator<Item = &'w str>,
) -> Read<()> {
    let (taken, others) = split(words).map_err(|error| error.reason)?;
    if let Some(other) = others.first() {
        return Err(format!("`{other}` is no -ORB argument"));
    }
    for argument in taken {
        if matches!(argument.effect, Effect::Profile | Effect::File) {
            return Err(format!("{} cannot be in a file", argument.shown));
        }
        put(config, argument.effect, &argument.value)?;
    }
    Ok(())
}

/// Applies the options of TAO's `SSLIOP_Factory`. Without `-SSLNoProtection` TAO's servers refuse
/// connections without TLS.
pub(crate) fn secure<'w>(
    config: &mut impl Settings,
    mut words: impl Iterator<Item = &'w str>,
) -> Read<()> {
    config.put("tls.require", "true")?;
    while let Some(word) = words.next() {
        let mut known = foreign::SSLIOP.iter();
        let Some((name, effect)) = known.find(|(name, _)| name.eq_ignore_ascii_case(word)) else {
            let names = foreign::SSLIOP.iter().map(|(name, _)| *name);
            return Err(not_there("option of SSLIOP_Factory", word, names));
        };
        let value = match effect {
            Effect::Flag(..) => Some(""),
            _ => words.next().filter(|next| !next.starts_with('-')),
        };
        let value = value.ok_or_else(|| format!("{name} has no value behind it"))?;
        put(config, *effect, value).map_err(|reason| format!("{name}: {reason}"))?;
    }
    Ok(())
}

/// Applies a property of JacORB; `None` if it is not one.
pub(crate) fn property(config: &mut impl Settings, name: &str, value: &str) -> Option<Read<()>> {
    if let Some(reference) = name.strip_prefix("ORBInitRef.") {
        return Some(config.put("initial_reference", &format!("{reference}={value}")));
    }
    let effect = foreign::property(name)?;
    Some(put(config, effect, value).map_err(|reason| format!("`{name}` {reason}")))
}

/// Applies one argument, unless it was applied before the others.
pub(crate) fn put(config: &mut impl Settings, effect: Effect, value: &str) -> Read<()> {
    match effect {
        Effect::Set(key) | Effect::Text(key) => config.put(key, value),
        Effect::Seconds(key) if value == "0" => config.put(key, "none"),
        Effect::Seconds(key) => config.put(key, &seconds(value)?),
        Effect::Instead(ours) => Err(format!("has another form here: write {ours}")),
        Effect::OneOf(all) if all.iter().any(|one| value.eq_ignore_ascii_case(one)) => Ok(()),
        Effect::OneOf(all) => Err(format!("`{value}` is not {}", all.join(" or "))),
        Effect::Flag(key, value) => config.put(key, value),
        Effect::Pem(key) => match value.split_once(':') {
            Some(("PEM", file)) => config.put(key, file),
            _ => Err(format!(
                "`{value}` is no PEM file: write PEM:FILE; `openssl x509 -inform der` and \
                 `openssl pkey -inform der` turn others into one"
            )),
        },
        Effect::Milliseconds(key) if value == "0" => config.put(key, "none"),
        Effect::Milliseconds(key) => config.put(key, &milliseconds(value)?),
        Effect::Choose(key, words) => {
            let theirs = value.to_lowercase();
            match words.iter().find(|(word, _)| *word == theirs) {
                Some((_, ours)) => config.put(key, ours),
                None => {
                    let known: Vec<_> = words.iter().map(|(word, _)| *word).collect();
                    Err(format!("`{value}` is not {}", known.join(" or ")))
                }
            }
        }
        Effect::Any => match value.split_once('=') {
            Some((key, value)) => config.put(key.trim(), value.trim()),
            None => Err(format!("`{value}` sets nothing: write -ORBSet key=value")),
        },
        Effect::Listen => {
            for endpoint in value.split([',', ';']) {
                config.put("endpoint", &endpoint_of(endpoint.trim()))?;
            }
            Ok(())
        }
        Effect::Profile | Effect::File | Effect::Ignore => Ok(()),
    }
}

/// An endpoint in the syntax of orbium: TAO's `iiop://1.2@host:port` is equivalent.
fn endpoint_of(text: &str) -> String {
    if let Some((scheme, address)) = text.split_once("://")
        && let Some((version, address)) = address.split_once('@')
        && matches!(version, "1.0" | "1.1" | "1.2")
    {
        return format!("{scheme}://{address}");
    }
    text.to_owned()
}
