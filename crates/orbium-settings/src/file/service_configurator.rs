// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files of TAO's service configurator: `static Server_Strategy_Factory "-ORB…"`.

use crate::settings::Settings;
use crate::value_syntax::Read;
use crate::{ConfigError, Place, arguments};

/// Length in bytes beyond which a line is not continued.
const MAX_LINE_SIZE: usize = 4 << 10;

/// Whether the first non-empty line is a directive.
pub(super) fn is_one(text: &str) -> bool {
    let mut lines = text.lines().map(|line| without_comment(line).trim());
    lines
        .find(|line| !line.is_empty())
        .is_some_and(|line| directive(line).is_some())
}

/// A directive and the rest of its line; `None` for any other line.
pub(super) fn directive(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.split_once(char::is_whitespace)?;
    let rest = rest.trim();
    (matches!(name, "static" | "dynamic") && !rest.starts_with('=')).then_some((name, rest))
}

/// Parses the text of a file with that path.
pub(super) fn parse<S: Settings>(
    path: &str,
    text: &str,
    base: Option<S>,
) -> Result<S, ConfigError> {
    let mut config = base.unwrap_or_default();
    let mut lines = (1..).zip(text.lines()).peekable();
    while let Some((number, line)) = lines.next() {
        let mut whole = without_comment(line).trim().to_owned();
        while let Some((_, next)) = lines.next_if(|(_, next)| goes_on(&whole, next.trim())) {
            let begun = whole.trim_end_matches('\\').trim_end();
            whole = format!("{begun} {}", next.trim());
        }
        apply(&mut config, &whole).map_err(|reason| {
            let line = line.trim().to_owned();
            ConfigError::new(Place::Line(path.to_owned(), number, line), reason)
        })?;
    }
    Ok(config)
}

/// Whether a line is continued in the next one.
fn goes_on(line: &str, next: &str) -> bool {
    let is_open = line.matches('"').count() == 1 || line.ends_with('\\');
    let is_begun = line.ends_with('*') || (line.ends_with("()") && next.starts_with('"'));
    line.len() < MAX_LINE_SIZE
        && match directive(line) {
            Some(("dynamic", _)) => is_open || is_begun,
            Some(_) => is_open,
            None => false,
        }
}

/// The line up to a `#` at its beginning or after a space, outside of quotation marks.
pub(super) fn without_comment(line: &str) -> &str {
    let (mut quoted, mut before) = (false, ' ');
    for (at, c) in line.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '#' if !quoted && before.is_whitespace() => return &line[..at],
            _ => {}
        }
        before = c;
    }
    line
}

fn apply<S: Settings>(config: &mut S, line: &str) -> Read<()> {
    match directive(line) {
        None if line.is_empty() => Ok(()),
        None => Err(format!(
            "`{line}` is no directive of TAO's service configurator: keys are TOML and stand in a \
             file of their own, which `-ORBConfigFile` names beside `-ORBSvcConf`"
        )),
        Some(("dynamic", rest)) => load(config, rest),
        Some((_, rest)) => configure(config, rest),
    }
}

/// `dynamic`: the only supported service is TLS.
fn load<S: Settings>(config: &mut S, rest: &str) -> Read<()> {
    if rest.split_whitespace().next() != Some("SSLIOP_Factory") {
        return Err(
            "orbium loads no services by `dynamic`: protocols out of shared libraries are \
             loaded with `Protocols::load`, or with --load of the program"
                .into(),
        );
    }
    let (_, options) = match rest.split_once('"') {
        Some(split) => split,
        None if rest.ends_with("()") => ("", "\""),
        None => {
            return Err("the line does not go on: write `dynamic SSLIOP_Factory \
                Service_Object * TAO_SSLIOP:_make_TAO_SSLIOP_Protocol_Factory() \"…\"`"
                .into());
        }
    };
    let options = options.strip_suffix('"');
    let options = options.ok_or("the options lack their second quotation mark")?;
    let words = options.split_whitespace().filter(|word| *word != "\\");
    arguments::secure(config, words)
}

/// `static`: the options of any factory.
fn configure<S: Settings>(config: &mut S, rest: &str) -> Read<()> {
    let Some((_, options)) = rest.split_once(char::is_whitespace) else {
        return Err(format!(
            "`{rest}` has no options: write `static Server_Strategy_Factory \"-ORBConcurrency \
             reactive\"`"
        ));
    };
    let options = unquoted(options.trim())?;
    arguments::apply(config, options.split_whitespace())
}

/// A value without its quotation marks.
fn unquoted(value: &str) -> Read<&str> {
    let inner = value.strip_prefix('"');
    match inner.map(|inner| inner.strip_suffix('"')) {
        None => Ok(value),
        Some(Some(inner)) => Ok(inner),
        Some(None) => Err(format!("`{value}` lacks its second quotation mark")),
    }
}
