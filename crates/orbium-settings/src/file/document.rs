// SPDX-License-Identifier: MIT OR Apache-2.0
//! Settings from a document of TOML.

mod advice;

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeArray, DeInteger, DeString, DeTable, DeValue};

use crate::arguments::JACORB;
use crate::lane_name;
use crate::settings::Settings;
use crate::spelling::not_there;
use crate::{ConfigError, Place};
use advice::advice;
use orbium_config::file_url;

/// The section of the lanes.
const LANES: &str = "lane";

/// The existing sections.
const SECTIONS: [&str; 5] = ["limits", "properties", "tls", "initial_reference", LANES];

/// A name and its value.
type Entry<'t, 'i> = (&'t Spanned<DeString<'i>>, &'t Spanned<DeValue<'i>>);

/// An error, with its offset in the text.
struct Wrong(usize, String);

/// Parses the text of a file with that path.
pub(super) fn parse<S: Settings>(
    path: &str,
    text: &str,
    base: Option<S>,
) -> Result<S, ConfigError> {
    let failed = |Wrong(offset, reason)| {
        let (number, line) = line_at(text, offset);
        let line = line.trim().to_owned();
        ConfigError::new(Place::Line(path.to_owned(), number, line), reason)
    };
    let document = DeTable::parse(text).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        let reason = advice(line_at(text, offset).1, error.message());
        failed(Wrong(offset, reason))
    })?;
    let folder = Path::new(path).parent().unwrap_or(Path::new(""));
    let document = document.into_inner();
    let config = profile(&document, base).map_err(failed)?;
    let mut reader = Reader {
        config,
        folder: folder.to_owned(),
    };
    reader.entries("", &document).map_err(failed)?;
    Ok(reader.config)
}

/// The line at an offset, or the last non-empty one before it: its number from 1, and its text.
fn line_at(text: &str, offset: usize) -> (usize, &str) {
    let rest = text.get(offset..).unwrap_or_default();
    let before = if rest.is_empty() {
        text.trim_end()
    } else {
        &text[..offset]
    };
    let begin = before.rfind('\n').map_or(0, |at| at + 1);
    let line = text[begin..].lines().next().unwrap_or_default();
    (before.matches('\n').count() + 1, line)
}

/// The base of the settings: the caller's, else those of the document's profile.
fn profile<S: Settings>(document: &DeTable<'_>, base: Option<S>) -> Result<S, Wrong> {
    let Some(name) = document.get("profile") else {
        return Ok(base.unwrap_or_default());
    };
    let wrong = |reason| Wrong(name.span().start, reason);
    let text = scalar(name.get_ref());
    let text = text.ok_or_else(|| wrong("profile: write one name in quotation marks".into()))?;
    let profile = S::from_profile(&text).map_err(wrong)?;
    Ok(base.unwrap_or(profile))
}

/// The text of a value that is neither a list nor a table.
fn scalar<'v>(value: &'v DeValue<'_>) -> Option<Cow<'v, str>> {
    Some(match value {
        DeValue::String(text) => Cow::Borrowed(text),
        DeValue::Integer(number) => integer(number),
        DeValue::Float(number) => Cow::Borrowed(number.as_str()),
        DeValue::Boolean(true) => Cow::Borrowed("true"),
        DeValue::Boolean(false) => Cow::Borrowed("false"),
        DeValue::Datetime(time) => Cow::Owned(time.to_string()),
        DeValue::Array(_) | DeValue::Table(_) => return None,
    })
}

/// An integer in decimal digits: `0x2e` is 46.
fn integer<'v>(number: &'v DeInteger<'_>) -> Cow<'v, str> {
    match i64::from_str_radix(number.as_str(), number.radix()) {
        Ok(value) if number.radix() != 10 => Cow::Owned(value.to_string()),
        _ => Cow::Borrowed(number.as_str()),
    }
}

/// The entries of a table in the order of the document.
fn in_order<'t, 'i>(table: &'t DeTable<'i>) -> Vec<Entry<'t, 'i>> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(name, _)| name.span().start);
    entries
}

struct Reader<S> {
    config: S,
    /// The folder of the file.
    folder: PathBuf,
}

impl<S: Settings> Reader<S> {
    /// Applies the entries of a table.
    fn entries(&mut self, prefix: &str, table: &DeTable<'_>) -> Result<(), Wrong> {
        for (name, value) in in_order(table) {
            let path = format!("{prefix}{}", name.get_ref());
            let at = name.span().start;
            match value.get_ref() {
                _ if path == "profile" => {}
                DeValue::Table(table) => self.section(&path, at, table)?,
                DeValue::Array(list) => self.list(&path, at, list)?,
                value => self.put(&path, at, &scalar(value).unwrap_or_default())?,
            }
        }
        Ok(())
    }

    /// Applies a section: its entries have names with its prefix.
    fn section(&mut self, path: &str, at: usize, table: &DeTable<'_>) -> Result<(), Wrong> {
        match S::value_of(path) {
            Some("NAME=URL") => return self.named(path, table),
            Some(value) => return Err(Wrong(at, format!("{path}: write one value, {value}"))),
            None if path == LANES => return self.lanes(table),
            None => {}
        }
        let is_known = SECTIONS.contains(&path) || is_foreign(path);
        if !is_known && (table.is_empty() || !path.contains('.')) {
            let known = not_there("section", path, SECTIONS.into_iter());
            return Err(Wrong(at, known));
        }
        self.entries(&format!("{path}."), table)
    }

    /// Applies `[initial_reference]`: names, each with a URL.
    fn named(&mut self, path: &str, table: &DeTable<'_>) -> Result<(), Wrong> {
        for (name, url) in in_order(table) {
            let (at, name) = (name.span().start, name.get_ref());
            let url = scalar(url.get_ref());
            let url = url.ok_or_else(|| Wrong(at, format!("{path}.{name}: write one URL")))?;
            self.put(path, at, &format!("{name}={url}"))?;
        }
        Ok(())
    }

    /// Applies `[lane.NAME]`.
    fn lanes(&mut self, table: &DeTable<'_>) -> Result<(), Wrong> {
        for (name, lane) in in_order(table) {
            let at = name.span().start;
            let name = lane_name::name(name.get_ref()).map_err(|reason| Wrong(at, reason))?;
            let DeValue::Table(keys) = lane.get_ref() else {
                let reason = format!(
                    "`{LANES}.{name}` is a section: write `[{LANES}.{name}]`, and its keys below"
                );
                return Err(Wrong(at, reason));
            };
            let begun = self.config.begin_lane(&name);
            begun.map_err(|reason| Wrong(at, reason))?;
            self.entries(&format!("{LANES}.{name}."), keys)?;
        }
        Ok(())
    }

    /// Applies a list: its values one after another to a key that may be repeated, all at once to a
    /// key with a list value.
    fn list(&mut self, path: &str, at: usize, list: &DeArray<'_>) -> Result<(), Wrong> {
        let value = S::value_of(path).unwrap_or("LIST");
        let repeats = matches!(value, "URL" | "NAME=URL");
        let is_list = ["LIST", "NAMES", "NUMBERS", "FILES", "VERSIONS"];
        if !repeats && !is_list.iter().any(|it| value.contains(it)) {
            return Err(Wrong(at, format!("{path}: write one value, {value}")));
        }
        let mut texts = Vec::with_capacity(list.len());
        for item in list {
            let text = scalar(item.get_ref());
            let at = item.span().start;
            let text =
                text.ok_or_else(|| Wrong(at, format!("{path}: a list of texts, {value}")))?;
            texts.push((at, text));
        }
        if texts.is_empty() && !repeats && !value.contains("none") {
            return Err(Wrong(
                at,
                format!("{path}: the list is empty: write {value}"),
            ));
        }
        if texts.is_empty() {
            return self.put(path, at, "none");
        }
        if repeats {
            return texts
                .iter()
                .try_for_each(|(at, text)| self.put(path, *at, text));
        }
        let all: Vec<_> = texts.iter().map(|(_, text)| &**text).collect();
        self.put(path, at, &all.join(","))
    }

    fn put(&mut self, path: &str, at: usize, text: &str) -> Result<(), Wrong> {
        let text = from_folder::<S>(path, text, &self.folder);
        let put = self.config.put(path, &text);
        put.map_err(|reason| Wrong(at, with_key::<S>(path, reason)))
    }
}

/// Whether properties of JacORB have names that begin with this text and a dot.
fn is_foreign(path: &str) -> bool {
    let begins = |name: &str| {
        let rest = name.strip_prefix(path);
        rest.is_some_and(|rest| rest.starts_with('.'))
    };
    path == "ORBInitRef" || JACORB.iter().any(|(name, _)| begins(name))
}

/// An error of a value with its key; an unknown key may be in the wrong section.
fn with_key<S: Settings>(path: &str, reason: String) -> String {
    if S::value_of(path).is_some() {
        return format!("{path}: {reason}");
    }
    match path.rsplit_once('.') {
        Some((section, key)) if S::value_of(key).is_some() && SECTIONS.contains(&section) => {
            format!("there is no key `{path}`: write `{key}` above the first section")
        }
        _ => reason,
    }
}

/// A value of a file in `folder`, with relative paths resolved against it.
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
