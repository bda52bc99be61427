// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names as text, and as the end of a URL.

use std::fmt;
use std::str::FromStr;

use orbium_giop::{Corbaname, UrlError};

use super::error::{NameSyntaxError, NameSyntaxErrorKind};
use super::name::{Name, NameComponent};

impl fmt::Display for NameComponent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_escaped(f, &self.id)?;
        if self.kind.is_empty() && !self.id.is_empty() {
            return Ok(());
        }
        f.write_str(".")?;
        write_escaped(f, &self.kind)
    }
}

fn write_escaped(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    for piece in text.split_inclusive(['.', '/', '\\']) {
        match piece.char_indices().next_back() {
            Some((at, last @ ('.' | '/' | '\\'))) => {
                write!(f, "{}\\{last}", piece.get(..at).unwrap_or_default())?;
            }
            _ => f.write_str(piece)?,
        }
    }
    Ok(())
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, component) in self.components().iter().enumerate() {
            if index > 0 {
                f.write_str("/")?;
            }
            component.fmt(f)?;
        }
        Ok(())
    }
}

/// The component being parsed, and the position of its dot.
#[derive(Default)]
struct Reading {
    component: NameComponent,
    dot: Option<usize>,
}

impl Reading {
    fn push(&mut self, c: char) {
        match self.dot {
            None => self.component.id.push(c),
            Some(_) => self.component.kind.push(c),
        }
    }

    /// The component, which ends at an offset.
    fn end(self, at: usize) -> Result<NameComponent, NameSyntaxError> {
        let NameComponent { id, kind } = &self.component;
        match self.dot {
            None if id.is_empty() => Err(NameSyntaxErrorKind::EmptyComponent.at(at)),
            // `.` alone is the component with both parts empty.
            Some(dot) if kind.is_empty() && !id.is_empty() => {
                Err(NameSyntaxErrorKind::EmptyKind.at(dot))
            }
            _ => Ok(self.component),
        }
    }
}

impl FromStr for Name {
    type Err = NameSyntaxError;

    fn from_str(text: &str) -> Result<Self, NameSyntaxError> {
        let mut components = Vec::new();
        let mut reading = Reading::default();
        let mut chars = text.char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '/' => components.push(std::mem::take(&mut reading).end(at)?),
                '.' if reading.dot.is_some() => {
                    return Err(NameSyntaxErrorKind::SecondDot.at(at));
                }
                '.' => reading.dot = Some(at),
                '\\' => match chars.next() {
                    Some((_, c @ ('.' | '/' | '\\'))) => reading.push(c),
                    _ => return Err(NameSyntaxErrorKind::BadEscape.at(at)),
                },
                c => reading.push(c),
            }
        }
        components.push(reading.end(text.len())?);
        Ok(Self::new(components))
    }
}

impl Name {
    /// The `corbaname:` URL of this name in the context at an address in the syntax of `corbaloc:`,
    /// such as `:names.example:2809/NameService` or `rir:`. An empty name gives the URL of the
    /// context.
    ///
    /// # Errors
    /// [`UrlError`] for an invalid address; its offset counts from the start of the URL.
    pub fn to_url(&self, address: &str) -> Result<String, UrlError> {
        let location = format!("{}{address}", Corbaname::SCHEME);
        let mut url = Corbaname::parse(&location)?;
        url.name = self.to_string();
        let url = url.to_string();
        // Only the name is replaced: the address is unchanged.
        let (location, _) = location.split_once('#').unwrap_or((&location, ""));
        match url.split_once('#') {
            Some((_, name)) => Ok(format!("{location}#{name}")),
            None => Ok(location.to_owned()),
        }
    }
}
