// SPDX-License-Identifier: MIT OR Apache-2.0
//! Parser of tables of RT_Infos.

use std::fmt;

use super::field::{named, shortened};
use super::word::{Fault, Word, words};
use crate::error::SchedError;
use crate::info::{Dependency, DependencyKind, EnableState, Handle, Timing};
use crate::repository::Repository;

/// A parsed repository, with the line of each operation in the text.
#[derive(Clone, Debug)]
pub struct Listing {
    /// The operations and their dependencies.
    pub repository: Repository,
    /// The line of each operation, from 1, in the order of handles.
    pub lines: Vec<u32>,
}

/// Error in the text of a table of RT_Infos, or of an overhead.
#[derive(Clone, PartialEq, Eq)]
pub struct TextError {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// The number of marked characters, at least 1.
    pub width: u32,
    /// The message, without a full stop.
    pub message: String,
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: ", self.line, self.column)?;
        f.write_str(&self.message)
    }
}

impl fmt::Debug for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for TextError {}

/// Reads a table of RT_Infos: one operation or dependency per line.
///
/// # Errors
/// The first error.
///
/// ```
/// let text = r#"
///     operation "Rudder::steer" period="50 ms" wcet="10 ms" criticality=HIGH
///     operation "Gyro::read" wcet="2 ms"
///     operation "Log::write" wcet="5 ms"       # at the rate of Rudder::steer
///     calls "Rudder::steer" operation="Gyro::read" times=2
///     consumes "Log::write" operation="Rudder::steer"
/// "#;
/// let table = orbium_sched::parse(text)?;
/// assert_eq!(table.repository.infos().len(), 3);
/// assert_eq!(table.lines, [2, 3, 4]);
/// # Ok::<(), orbium_sched::TextError>(())
/// ```
pub fn parse(text: &str) -> Result<Listing, TextError> {
    let mut reader = Reader {
        listing: Listing {
            repository: Repository::new(),
            lines: Vec::new(),
        },
        dependencies: Vec::new(),
    };
    for (number, line) in (1..).zip(text.lines()) {
        let words = words(line).map_err(|fault| located(number, fault))?;
        reader
            .line(number, words)
            .map_err(|it| located(number, it))?;
    }
    reader.finish()
}

pub(super) fn located(line: u32, fault: Fault) -> TextError {
    let number = |it: usize| u32::try_from(it).unwrap_or(u32::MAX);
    TextError {
        line,
        column: number(fault.start).saturating_add(1),
        width: number(fault.end - fault.start).max(1),
        message: fault.message,
    }
}

struct Reader {
    listing: Listing,
    /// Dependencies are added when all operations are registered: they may be written first.
    dependencies: Vec<Written>,
}

/// A dependency in the text.
struct Written {
    line: u32,
    kind: DependencyKind,
    dependant: Word,
    on: Word,
    times: u32,
    state: EnableState,
}

impl Reader {
    fn line(&mut self, number: u32, words: Vec<Word>) -> Result<(), Fault> {
        let mut words = words.into_iter();
        let Some(first) = words.next() else {
            return Ok(());
        };
        let kind = match (first.field.is_none(), &*first.value) {
            (true, "operation") => return self.operation(number, &first, words),
            (true, "calls") => DependencyKind::TwoWayCall,
            (true, "consumes") => DependencyKind::OneWayCall,
            _ => return Err(fault(&first, "`operation`, `calls` or `consumes` expected")),
        };
        let dependency = dependency(number, kind, &first, words)?;
        self.dependencies.push(dependency);
        Ok(())
    }

    fn operation(
        &mut self,
        number: u32,
        first: &Word,
        mut words: impl Iterator<Item = Word>,
    ) -> Result<(), Fault> {
        let name = name(first, &mut words)?;
        let mut timing = Timing::default();
        let mut state = EnableState::default();
        let mut seen: Vec<String> = Vec::new();
        for word in words {
            let Some(field) = &word.field else {
                return Err(fault(&word, "a field such as period=\"50 ms\" expected"));
            };
            if seen.contains(field) {
                return Err(fault(&word, format!("`{field}` is set twice")));
            }
            match &**field {
                "enabled" => state = enable_state(&word)?,
                field => {
                    let set = timing.set(field, &word.value);
                    set.map_err(|message| fault(&word, message))?;
                }
            }
            seen.push(field.clone());
        }
        let repository = &mut self.listing.repository;
        let registered = repository
            .register(&name.value, timing)
            .and_then(|it| repository.set_enable_state(it, state));
        registered.map_err(|error| fault(&name, error.to_string()))?;
        self.listing.lines.push(number);
        Ok(())
    }

    fn finish(mut self) -> Result<Listing, TextError> {
        for it in &self.dependencies {
            let repository = &mut self.listing.repository;
            let added = found(repository, &it.dependant).and_then(|dependant| {
                let on = found(repository, &it.on)?;
                let dependency = Dependency {
                    on,
                    calls: it.times,
                    kind: it.kind,
                    state: it.state,
                };
                let added = repository.depend(dependant, dependency);
                added.map_err(|error: SchedError| fault(&it.on, error.to_string()))
            });
            added.map_err(|error| located(it.line, error))?;
        }
        Ok(self.listing)
    }
}

fn dependency(
    line: u32,
    kind: DependencyKind,
    first: &Word,
    mut words: impl Iterator<Item = Word>,
) -> Result<Written, Fault> {
    let dependant = name(first, &mut words)?;
    let (mut on, mut times, mut state) = (None, 1, EnableState::default());
    for word in words {
        match word.field.as_deref() {
            Some("operation") if on.is_none() => on = Some(word),
            Some("times") => {
                let number = word.value.parse().ok().filter(|it| *it > 0);
                let no_number = || fault(&word, "the number of calls is from 1 to 4294967295");
                times = number.ok_or_else(no_number)?;
            }
            Some("enabled") => state = enable_state(&word)?,
            _ => {
                return Err(fault(
                    &word,
                    "operation=NAME or times=NUMBER expected, once",
                ));
            }
        }
    }
    let on = on.ok_or_else(|| fault(&dependant, "operation=NAME is missing behind this name"))?;
    Ok(Written {
        line,
        kind,
        dependant,
        on,
        times,
        state,
    })
}

fn enable_state(word: &Word) -> Result<EnableState, Fault> {
    let found = named(EnableState::ALL, EnableState::name, &word.value);
    found.map_err(|why| fault(word, why))
}

/// The name behind the first word.
fn name(first: &Word, words: &mut impl Iterator<Item = Word>) -> Result<Word, Fault> {
    match words.next() {
        Some(word) if word.field.is_none() => Ok(word),
        Some(word) => Err(fault(&word, "the name of an operation expected")),
        None => Err(fault(first, "the name of an operation is missing")),
    }
}

fn found(repository: &Repository, word: &Word) -> Result<Handle, Fault> {
    let unknown = |_| {
        let name = shortened(&word.value);
        fault(word, format!("no operation `{name}` is in the table"))
    };
    repository.lookup(&word.value).map_err(unknown)
}

pub(super) fn fault(word: &Word, message: impl Into<String>) -> Fault {
    Fault {
        start: word.start,
        end: word.end,
        message: message.into(),
    }
}
