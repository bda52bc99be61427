// SPDX-License-Identifier: MIT OR Apache-2.0
//! Configuration files: lines of `key = value`. Lines of TAO's service
//! configurator, `static Server_Strategy_Factory "-ORB…"`, are understood too.

use std::borrow::Cow;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::values::Read;
use crate::{ConfigError, Place, Settings, arguments, file_url, lane_name};

/// Octets of the largest file that is read.
const LARGEST: u64 = 1 << 20;

/// Octets after which a line of `svc.conf` does not go on.
const LONGEST_LINE: usize = 4 << 10;

/// The sections there are: what stands before the keys in them.
const SECTIONS: [&str; 3] = ["limits", "properties", "tls"];

/// Reads a file; `base` goes before the profile that the file names.
///
/// # Errors
/// It cannot be read, or a line cannot be understood: which, and what to write.
pub fn read<S: Settings>(path: &Path, base: Option<S>) -> Result<S, ConfigError> {
    let shown = path.display().to_string();
    let failed = |reason: String| ConfigError::new(Place::File(shown.clone()), reason);
    let mut octets = Vec::new();
    File::open(path)
        .and_then(|file| file.take(LARGEST + 1).read_to_end(&mut octets))
        .map_err(|error| failed(format!("cannot be read: {error}")))?;
    if octets.len() as u64 > LARGEST {
        return Err(failed(
            "is larger than 1 MiB, so it is no configuration".into(),
        ));
    }
    let text = String::from_utf8(octets);
    let text = text.map_err(|_| failed("is not text in UTF-8".into()))?;
    parse(&shown, &text, base)
}

/// What a text says, which stands in a file of that name.
///
/// # Errors
/// A line cannot be understood: which, and what to write.
pub fn parse<S: Settings>(path: &str, text: &str, base: Option<S>) -> Result<S, ConfigError> {
    let folder = Path::new(path).parent().unwrap_or(Path::new(""));
    let mut reading = Reading {
        folder: folder.to_owned(),
        profile_is_chosen: base.is_some(),
        config: base.unwrap_or_default(),
        has_begun: false,
        section: None,
    };
    let mut lines = (1..).zip(text.lines()).peekable();
    while let Some((number, line)) = lines.next() {
        let mut whole = without_comment(line).trim().to_owned();
        while let Some((_, next)) = lines.next_if(|(_, next)| goes_on(&whole, next.trim())) {
            let begun = whole.trim_end_matches('\\').trim_end();
            whole = format!("{begun} {}", next.trim());
        }
        reading.line(&whole).map_err(|reason| {
            let line = line.trim().to_owned();
            ConfigError::new(Place::Line(path.to_owned(), number, line), reason)
        })?;
    }
    Ok(reading.config)
}

/// Whether a line of TAO's `svc.conf` goes on in the next one.
fn goes_on(line: &str, next: &str) -> bool {
    let of_tao = |directive| {
        let rest = line.strip_prefix(directive);
        rest.is_some_and(|rest| rest.starts_with(char::is_whitespace))
    };
    let is_open = line.matches('"').count() == 1 || line.ends_with('\\');
    let is_begun = line.ends_with('*') || (line.ends_with("()") && next.starts_with('"'));
    line.len() < LONGEST_LINE
        && (of_tao("dynamic") && (is_open || is_begun) || of_tao("static") && is_open)
}

/// What stands before a `#` at the beginning or behind a space, outside of
/// quotation marks. Elsewhere it belongs to the value: object URLs have it.
fn without_comment(line: &str) -> &str {
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

struct Reading<S> {
    config: S,
    /// By the caller; its choice goes before that of the file.
    profile_is_chosen: bool,
    /// Something was set, so no profile may follow.
    has_begun: bool,
    /// In which the file is.
    folder: PathBuf,
    section: Option<String>,
}

impl<S: Settings> Reading<S> {
    fn line(&mut self, line: &str) -> Read<()> {
        if line.is_empty() {
            return Ok(());
        }
        if let Some(section) = line.strip_prefix('[') {
            return self.begin_section(section);
        }
        if let Some((directive, rest)) = line.split_once(char::is_whitespace)
            && matches!(directive, "static" | "dynamic")
            && !rest.trim_start().starts_with('=')
        {
            self.has_begun = true;
            return self.service(directive, rest.trim());
        }
        let Some((key, value)) = line.split_once('=') else {
            return Err(format!(
                "`{line}` is no setting: write `key = value`, as in `server_strategy = reactive`"
            ));
        };
        let (key, value) = (key.trim(), unquoted(value.trim())?);
        if key == "profile" && self.section.is_none() {
            return self.profile(value);
        }
        self.has_begun = true;
        match &self.section {
            Some(section) => self.put(&format!("{section}.{key}"), value),
            None => self.put(key, value),
        }
    }

    fn put(&mut self, key: &str, value: &str) -> Read<()> {
        let value = from_folder::<S>(key, value, &self.folder);
        self.config.put(key, &value)
    }

    fn begin_section(&mut self, rest: &str) -> Read<()> {
        let name = rest.strip_suffix(']').map(str::trim);
        if let Some(lane) = name.and_then(lane_name::section) {
            let lane = lane?;
            self.has_begun = true;
            self.section = Some(format!("{}{lane}", lane_name::LANE));
            self.config.begin_lane(&lane);
            return Ok(());
        }
        let known = SECTIONS.into_iter().find(|known| Some(*known) == name);
        let known = known.ok_or_else(|| {
            format!(
                "`[{rest}` is no section: write [{}] or [lane NAME]",
                SECTIONS.join("], [")
            )
        })?;
        self.section = Some(known.to_owned());
        Ok(())
    }

    fn profile(&mut self, name: &str) -> Read<()> {
        if self.has_begun {
            return Err(
                "a profile sets everything, so it has to stand before all else: move this line up"
                    .into(),
            );
        }
        self.has_begun = true;
        let profile = S::from_profile(name)?;
        if !self.profile_is_chosen {
            self.config = profile;
        }
        Ok(())
    }

    /// A line of TAO's `svc.conf`.
    fn service(&mut self, directive: &str, rest: &str) -> Read<()> {
        let name = rest.split_whitespace().next();
        if directive == "dynamic" && name == Some("SSLIOP_Factory") {
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
            return arguments::secure(&mut self.config, words);
        }
        if directive == "dynamic" {
            return Err(
                "orbium loads no services by `dynamic`: protocols out of shared libraries are \
                 loaded with `Protocols::load`, or with --load of the program"
                    .into(),
            );
        }
        let Some((_, options)) = rest.split_once(char::is_whitespace) else {
            return Err(format!(
                "`{rest}` has no options: write `static Server_Strategy_Factory \"-ORBConcurrency \
                 reactive\"`"
            ));
        };
        let options = unquoted(options.trim())?;
        arguments::apply(&mut self.config, options.split_whitespace())
    }
}

/// A value of a file in `folder`, from where the relative paths in it begin.
fn from_folder<'v, S: Settings>(key: &str, value: &'v str, folder: &Path) -> Cow<'v, str> {
    let moved = |path: &str| match path {
        "none" => path.to_owned(),
        path => folder.join(path).display().to_string(),
    };
    let reference = |url: &str| file_url::from_folder(url, folder);
    let moved = match S::value_of(key) {
        Some("FILE or none") => Some(moved(value)),
        Some("FILES or none") => {
            let files = value.split(',').map(|file| moved(file.trim()));
            Some(files.collect::<Vec<_>>().join(","))
        }
        Some("URL or none") => reference(value),
        Some("NAME=URL") => value
            .split_once('=')
            .and_then(|(name, url)| Some(format!("{name}={}", reference(url.trim())?))),
        _ => None,
    };
    moved.map_or(Cow::Borrowed(value), Cow::Owned)
}

/// A value without the quotation marks around it.
fn unquoted(value: &str) -> Read<&str> {
    let inner = value.strip_prefix('"');
    match inner.map(|inner| inner.strip_suffix('"')) {
        None => Ok(value),
        Some(Some(inner)) => Ok(inner),
        Some(None) => Err(format!("`{value}` lacks its second quotation mark")),
    }
}
