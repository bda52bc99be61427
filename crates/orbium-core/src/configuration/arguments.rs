// SPDX-License-Identifier: MIT OR Apache-2.0
//! `-ORB` arguments (CORBA 3.3 Part 1, clause 8.5.1): orbium's own, and those of
//! TAO and omniORB that mean the same.

mod foreign;
mod table;

use std::path::Path;

#[cfg(test)]
pub(super) use table::names;
use table::{ARGUMENTS, Does};

use super::values::{Read, milliseconds, seconds};
use super::{ConfigError, Place, file, find_profile, not_there};
use crate::Config;

/// An argument and its value.
struct Taken {
    /// As it was written.
    shown: String,
    does: Does,
    value: String,
}

impl Taken {
    fn failed(&self, reason: String) -> ConfigError {
        ConfigError::new(Place::Argument(self.shown.clone()), reason)
    }
}

/// Finds the argument that a word is, and the value if that is in the same word.
fn recognise(word: &str) -> Read<(Does, Option<&str>)> {
    let whole = ARGUMENTS.iter().find(|(name, _)| *name == word);
    if let Some((_, does)) = whole {
        return Ok((*does, None));
    }
    // `-ORBnamevalue` is legal as well.
    let starts = ARGUMENTS.iter().filter(|(name, _)| word.starts_with(name));
    match starts.max_by_key(|(name, _)| name.len()) {
        Some((name, does)) => Ok((*does, Some(&word[name.len()..]))),
        None => {
            let names = ARGUMENTS.iter().map(|(name, _)| *name);
            Err(not_there("argument", word, names))
        }
    }
}

fn is_ours(word: &str) -> bool {
    word.starts_with("-ORB")
}

/// Splits words into arguments with values and the others.
fn split<'w>(
    mut words: impl Iterator<Item = &'w str>,
) -> Result<(Vec<Taken>, Vec<String>), ConfigError> {
    let (mut taken, mut others) = (Vec::new(), Vec::new());
    while let Some(word) = words.next() {
        if word == "--" {
            others.push(word.to_owned());
            others.extend(words.by_ref().map(str::to_owned));
        } else if is_ours(word) {
            let failed = |reason| ConfigError::new(Place::Argument(word.to_owned()), reason);
            let (does, value) = recognise(word).map_err(failed)?;
            let value = value.or_else(|| words.next().filter(|next| !is_ours(next)));
            let value = value.ok_or_else(|| failed("has no value behind it".to_owned()))?;
            taken.push(Taken {
                shown: word.to_owned(),
                does,
                value: value.to_owned(),
            });
        } else {
            others.push(word.to_owned());
        }
    }
    Ok((taken, others))
}

/// The configuration that arguments say; takes them out.
pub(super) fn take(args: &mut Vec<String>) -> Result<Config, ConfigError> {
    let (taken, others) = split(args.iter().map(String::as_str))?;
    let mut config = None;
    for argument in &taken {
        if let Does::Profile = argument.does {
            let profile = find_profile(&argument.value);
            config = Some(profile.map_err(|reason| argument.failed(reason))?);
        }
    }
    for argument in &taken {
        if let Does::File = argument.does {
            config = Some(file::read(Path::new(&argument.value), config)?);
        }
    }
    let mut config = config.unwrap_or_default();
    for argument in &taken {
        let put = put(&mut config, argument.does, &argument.value);
        put.map_err(|reason| argument.failed(reason))?;
    }
    *args = others;
    Ok(config)
}

/// Does what arguments in a file say.
pub(super) fn apply<'w>(config: &mut Config, words: impl Iterator<Item = &'w str>) -> Read<()> {
    let (taken, others) = split(words).map_err(|error| error.reason)?;
    if let Some(other) = others.first() {
        return Err(format!("`{other}` is no -ORB argument"));
    }
    for argument in taken {
        if matches!(argument.does, Does::Profile | Does::File) {
            return Err(format!("{} cannot be in a file", argument.shown));
        }
        put(config, argument.does, &argument.value)?;
    }
    Ok(())
}

/// Does what the options of TAO's `SSLIOP_Factory` say. Without `-SSLNoProtection`
/// TAO's servers refuse what comes without TLS.
pub(super) fn secure<'w>(
    config: &mut Config,
    mut words: impl Iterator<Item = &'w str>,
) -> Read<()> {
    config.put("tls.require", "true")?;
    while let Some(word) = words.next() {
        let mut known = foreign::SSLIOP.iter();
        let Some((name, does)) = known.find(|(name, _)| name.eq_ignore_ascii_case(word)) else {
            let names = foreign::SSLIOP.iter().map(|(name, _)| *name);
            return Err(not_there("option of SSLIOP_Factory", word, names));
        };
        let value = match does {
            Does::Flag(..) => Some(""),
            _ => words.next().filter(|next| !next.starts_with('-')),
        };
        let value = value.ok_or_else(|| format!("{name} has no value behind it"))?;
        put(config, *does, value).map_err(|reason| format!("{name}: {reason}"))?;
    }
    Ok(())
}

/// Does what a property of JacORB says; `None` if it is none.
pub(super) fn property(config: &mut Config, name: &str, value: &str) -> Option<Read<()>> {
    if let Some(reference) = name.strip_prefix("ORBInitRef.") {
        return Some(config.put("initial_reference", &format!("{reference}={value}")));
    }
    let does = foreign::property(name)?;
    Some(put(config, does, value).map_err(|reason| format!("`{name}` {reason}")))
}

/// Does what one argument says, unless that was done before the others.
fn put(config: &mut Config, does: Does, value: &str) -> Read<()> {
    match does {
        Does::Set(key) => config.put(key, value),
        Does::Seconds(key) if value == "0" => config.put(key, "none"),
        Does::Seconds(key) => config.put(key, &seconds(value)?),
        Does::Instead(ours) => Err(format!("has another form here: write {ours}")),
        Does::OneOf(all) if all.iter().any(|one| value.eq_ignore_ascii_case(one)) => Ok(()),
        Does::OneOf(all) => Err(format!("`{value}` is not {}", all.join(" or "))),
        Does::Flag(key, value) => config.put(key, value),
        Does::Pem(key) => match value.split_once(':') {
            Some(("PEM", file)) => config.put(key, file),
            _ => Err(format!(
                "`{value}` is no PEM file: write PEM:FILE; `openssl x509 -inform der` and \
                 `openssl pkey -inform der` turn others into one"
            )),
        },
        Does::Milliseconds(key) if value == "0" => config.put(key, "none"),
        Does::Milliseconds(key) => config.put(key, &milliseconds(value)?),
        Does::Choose(key, words) => {
            let theirs = value.to_lowercase();
            match words.iter().find(|(word, _)| *word == theirs) {
                Some((_, ours)) => config.put(key, ours),
                None => {
                    let known: Vec<_> = words.iter().map(|(word, _)| *word).collect();
                    Err(format!("`{value}` is not {}", known.join(" or ")))
                }
            }
        }
        Does::Any => match value.split_once('=') {
            Some((key, value)) => config.put(key.trim(), value.trim()),
            None => Err(format!("`{value}` sets nothing: write -ORBSet key=value")),
        },
        Does::Listen => {
            for endpoint in value.split([',', ';']) {
                config.put("endpoint", &endpoint_of(endpoint.trim()))?;
            }
            Ok(())
        }
        Does::Profile | Does::File | Does::Ignore => Ok(()),
    }
}

/// An endpoint as orbium has it: TAO's `iiop://1.2@host:port` means the same.
fn endpoint_of(text: &str) -> String {
    if let Some((scheme, address)) = text.split_once("://")
        && let Some((version, address)) = address.split_once('@')
        && matches!(version, "1.0" | "1.1" | "1.2")
    {
        return format!("{scheme}://{address}");
    }
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{ClientStrategy, ServerStrategy};

    fn from(words: &str) -> (Result<Config, String>, Vec<String>) {
        let mut args: Vec<_> = words.split_whitespace().map(str::to_owned).collect();
        let config = Config::from_args(&mut args).map_err(|error| error.to_string());
        (config, args)
    }

    #[test]
    fn the_options_of_omniorb_mean_the_same_or_name_what_does() {
        let (config, _) = from(
            "-ORBmaxGIOPVersion 1.1 -ORBinConScanPeriod 180 -ORBoutConScanPeriod 0 \
             -ORBscanGranularity 5 -ORBnativeCharCodeSet UTF-8 -ORBnativeWCharCodeSet UTF-16 \
             -ORBpoaHoldRequestTimeout 500 -ORBendPoint giop:tcp::5000 \
             -ORBmaxServerThreadPerConnection 1 -ORBgiopMaxMsgSize 2097152",
        );
        let config = config.unwrap();
        assert_eq!(config.giop_minor.number(), 1);
        assert_eq!(
            config.limits.server_idle_time,
            Some(Duration::from_secs(180))
        );
        assert_eq!(config.limits.client_idle_time, None);
        assert_eq!(config.limits.hold_time, Some(Duration::from_millis(500)));
        assert_eq!(config.limits.message_size, 2 << 20);
        assert_eq!(config.endpoints[0].to_string(), "iiop://:5000");
        assert_eq!(config.native_char_code_set.to_string(), "UTF-8");
        for (words, said) in [
            ("-ORBtraceLevel 25", "RUST_LOG"),
            ("-ORBsslCAPath ca", "tls.authorities"),
            ("-ORBendPointPublish giop:tcp:h:1", "publish="),
            ("-ORBnativeWCharCodeSet UCS-4", "UTF-16"),
            ("-ORBclientTransportRule *", "-ORBClientProtocols"),
            ("-ORBmaxServerThreadPoolSize 9", "worker-pool"),
        ] {
            let refused = from(words).0.unwrap_err();
            assert!(refused.contains(said), "{refused}");
        }
    }

    #[test]
    fn arguments_are_taken_out_in_both_forms() {
        let (config, args) = from(
            "server -ORBListenEndpoints iiop://:5000;uiop:///run/x -v \
             -ORBInitRef NameService=corbaloc::ns/NameService -ORBConcurrencyreactive \
             -ORBclientCallTimeOutPeriod 250 -ORBSet limits.nesting=9 -ORBNodelay 0 \
             -ORBServerId me -ORBTransportMuxStrategy MUXED file -- -ORBNot",
        );
        let config = config.unwrap();
        assert_eq!(args, ["server", "-v", "file", "--", "-ORBNot"]);
        let endpoints: Vec<_> = config.endpoints.iter().map(ToString::to_string).collect();
        assert_eq!(endpoints, ["iiop://:5000", "uiop:///run/x"]);
        assert_eq!(config.strategy, ServerStrategy::Reactive);
        assert_eq!(config.call_timeout, Some(Duration::from_millis(250)));
        assert_eq!(config.limits.nesting, 9);
        assert_eq!(config.client_strategy, ClientStrategy::LeaderFollowers);
        assert!(!config.properties.no_delay);
        assert_eq!(config.initial_references.len(), 1);
    }

    #[test]
    fn endpoints_of_other_orbs_mean_the_same() {
        for (theirs, ours) in [
            ("giop:tcp:host:5000", "iiop://host:5000"),
            ("giop:tcp::5000", "iiop://:5000"),
            ("giop:unix:/run/x", "uiop:///run/x"),
            ("giop:ssl:host:5001", "ssliop://host:5001"),
            ("iiop://1.2@host:5000", "iiop://host:5000"),
            ("uiop://1.2@/run/x", "uiop:///run/x"),
            ("uiop://@name", "uiop://@name"),
        ] {
            let endpoint: orbium_transport::Endpoint = endpoint_of(theirs).parse().unwrap();
            assert_eq!(endpoint.to_string(), ours);
        }
    }

    #[test]
    fn a_profile_goes_before_the_rest_wherever_it_stands() {
        let (config, _) = from("x -ORBSet limits.connections=5 -ORBProfile embedded");
        let config = config.unwrap();
        assert_eq!(config.limits.connections, 5);
        assert_eq!(config.strategy, ServerStrategy::Reactive);
    }

    #[test]
    fn what_is_wrong_is_named_and_nothing_is_taken() {
        for (words, wanted) in [
            (
                "-ORBServerStrateg reactive",
                "did you mean `-ORBServerStrategy`?",
            ),
            ("-ORBProfile", "-ORBProfile: has no value"),
            ("-ORBProfile -ORBid x", "-ORBProfile: has no value"),
            (
                "-ORBProfile fast",
                "-ORBProfile: there is no profile `fast`",
            ),
            ("-ORBSet nesting", "write -ORBSet key=value"),
            ("-ORBSet limits.nestin=3", "did you mean `limits.nesting`?"),
            (
                "-ORBConfigFile /no/such/file",
                "/no/such/file: cannot be read",
            ),
            (
                "-ORBTransportMuxStrategy some",
                "`some` is not exclusive or muxed",
            ),
            ("-ORBListenEndpoints nonsense", "-ORBListenEndpoints: "),
        ] {
            let (config, args) = from(words);
            let error = config.unwrap_err();
            assert!(error.contains(wanted), "{words}: {error}");
            assert_eq!(args.join(" "), words);
        }
    }

    /// How TAO's callers wait.
    #[test]
    fn tao_s_ways_to_wait_are_known() {
        for (words, wanted) in [
            ("-ORBWaitStrategy ST", ClientStrategy::Reactor),
            ("-ORBClientConnectionHandler st", ClientStrategy::Reactor),
            ("-ORBWaitStrategy MT", ClientStrategy::LeaderFollowers),
            (
                "-ORBClientConnectionHandler MT_NOUPCALL",
                ClientStrategy::LeaderFollowers,
            ),
            ("-ORBWaitStrategy RW", ClientStrategy::ExclusivePool),
            ("-ORBClientStrategy reactor", ClientStrategy::Reactor),
        ] {
            let (config, _) = from(words);
            assert_eq!(config.unwrap().client_strategy, wanted, "{words}");
        }
    }
}
