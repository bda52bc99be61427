// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ceilings: values that are checked in and may only fall.

use std::collections::BTreeMap;
use std::path::Path;

use xtask::outcome::Outcome;

/// Values by section and name. A value without a ceiling must be 0.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub(crate) struct Values(pub(crate) BTreeMap<String, BTreeMap<String, u64>>);

impl Values {
    /// Sets a value.
    pub(crate) fn set(&mut self, section: &str, name: &str, value: usize) {
        let section = self.0.entry(section.to_owned()).or_default();
        section.insert(name.to_owned(), value as u64);
    }

    /// A value, or 0.
    pub(crate) fn get(&self, section: &str, name: &str) -> u64 {
        let section = self.0.get(section);
        section.and_then(|it| it.get(name)).copied().unwrap_or(0)
    }

    fn all(&self) -> impl Iterator<Item = (&str, &str, u64)> {
        self.0.iter().flat_map(|(section, values)| {
            values
                .iter()
                .map(move |(name, &value)| (section.as_str(), name.as_str(), value))
        })
    }

    /// The values above their ceilings, a line each.
    pub(crate) fn above(&self, ceilings: &Self) -> Vec<String> {
        let above = self.all().filter_map(|(section, name, value)| {
            let ceiling = ceilings.get(section, name);
            (value > ceiling).then(|| format!("{section}: {name}: {value}, ceiling {ceiling}"))
        });
        above.collect()
    }

    /// The number of values below their ceilings.
    pub(crate) fn below(&self, ceilings: &Self) -> usize {
        let below =
            |&(section, name, ceiling): &(&str, &str, u64)| self.get(section, name) < ceiling;
        ceilings.all().filter(below).count()
    }

    /// The ceilings, each lowered to its value if that is less; those of 0 are removed.
    pub(crate) fn lowered(&self, ceilings: &Self) -> Self {
        let mut lowered = Self::default();
        for (section, name, ceiling) in ceilings.all() {
            let value = self.get(section, name).min(ceiling);
            if value > 0 {
                lowered.set(section, name, value as usize);
            }
        }
        lowered
    }
}

/// Treatment of ceilings by a task.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Ceilings are ignored.
    #[default]
    Print,
    /// Fail if a value is above its ceiling.
    Check,
    /// Write lower ceilings for values that have fallen.
    Lower,
}

impl Mode {
    /// Reads `--check` or `--lower`.
    ///
    /// # Errors
    /// Any other argument.
    pub(crate) fn parse(chore: &str, arguments: impl Iterator<Item = String>) -> Outcome<Self> {
        let mut mode = Self::Print;
        for argument in arguments {
            mode = match argument.as_str() {
                "--check" => Self::Check,
                "--lower" => Self::Lower,
                other => return Err(format!("{chore}: unknown option {other}")),
            };
        }
        Ok(mode)
    }

    /// Compares `values` with the ceilings in `file`, and writes lower ones if that is the mode. A
    /// missing file is created.
    ///
    /// # Errors
    /// A value is above its ceiling, with `--check`; the file cannot be read or written.
    pub(crate) fn apply(self, chore: &str, values: &Values, file: &Path) -> Outcome<()> {
        if self == Self::Lower && !file.exists() {
            return write(chore, &values.lowered(values), file);
        }
        let ceilings = read(file)?;
        if self == Self::Lower {
            return write(chore, &values.lowered(&ceilings), file);
        }
        let above = values.above(&ceilings);
        for line in &above {
            println!("ABOVE ITS CEILING: {line}");
        }
        let fell = values.below(&ceilings);
        if fell > 0 {
            println!("{fell} below their ceiling: `cargo xtask {chore} --lower` writes them down");
        }
        if above.is_empty() || self == Self::Print {
            return Ok(());
        }
        Err(format!(
            "{} above the ceilings in {}: bring the values down; a commit that raises a ceiling says why",
            above.len(),
            file.display(),
        ))
    }
}

fn read(file: &Path) -> Outcome<Values> {
    let in_file = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
    let text = std::fs::read_to_string(file).map_err(|error| in_file(&error))?;
    toml::from_str(&text).map_err(|error| in_file(&error))
}

fn write(chore: &str, values: &Values, file: &Path) -> Outcome<()> {
    let in_file = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
    let values = toml::to_string(values).map_err(|error| in_file(&error))?;
    let text = format!(
        "# Ceilings of `cargo xtask {chore} --check`: they may only fall. `cargo xtask {chore} --lower`\n\
         # writes down what fell; what is not here must be 0.\n\n{values}"
    );
    std::fs::write(file, text).map_err(|error| in_file(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(of: &[(&str, u64)]) -> Values {
        let section = of.iter().map(|&(name, value)| (name.to_owned(), value));
        Values(BTreeMap::from([("files".to_owned(), section.collect())]))
    }

    #[test]
    fn a_value_above_its_ceiling_is_named_with_both() {
        let above = values(&[("a", 3), ("b", 1)]).above(&values(&[("a", 2), ("b", 1)]));
        assert_eq!(above, ["files: a: 3, ceiling 2"]);
    }

    #[test]
    fn a_value_without_a_ceiling_must_be_zero() {
        assert_eq!(values(&[("new", 1)]).above(&values(&[])).len(), 1);
        assert!(values(&[("new", 0)]).above(&values(&[])).is_empty());
    }

    #[test]
    fn ceilings_are_lowered_and_never_raised() {
        let now = values(&[("a", 5), ("b", 1), ("new", 9)]);
        let ceilings = values(&[("a", 4), ("b", 2), ("gone", 7)]);
        assert_eq!(now.lowered(&ceilings), values(&[("a", 4), ("b", 1)]));
        assert_eq!(now.below(&ceilings), 2);
    }

    #[test]
    fn ceilings_are_read_as_they_were_written() {
        let file = std::env::temp_dir().join(format!("ceilings-{}.toml", std::process::id()));
        let now = values(&[("orbium-core", 5), ("longest function", 1)]);
        Mode::Lower.apply("tidy", &now, &file).unwrap();
        assert_eq!(read(&file).unwrap(), now);
        let more = values(&[("orbium-core", 6)]);
        assert!(Mode::Check.apply("tidy", &more, &file).is_err());
        assert!(Mode::Print.apply("tidy", &more, &file).is_ok());
        std::fs::remove_file(&file).unwrap();
    }
}
