// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tests that compare `docs/configuration.md` with the code.

use std::fmt::Write;

use crate::arguments::ARGUMENTS;
use crate::file;
use crate::spelling::toml_value;

use crate::{ConfigKey, Configure as _, LaneKey};
use orbium_core::{Config, LaneConfig};

fn page() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/configuration.md");
    std::fs::read_to_string(path).unwrap()
}

#[track_caller]
fn expect(text: &str) {
    assert!(
        page().contains(text),
        "docs/configuration.md lacks this:\n{text}"
    );
}

#[test]
fn every_key_is_on_the_page() {
    let mut table = String::from("| key | value | default | |\n|---|---|---|---|\n");
    let config = Config::default();
    for key in ConfigKey::ALL {
        let default = match key.name {
            "protocols" => "all".to_owned(),
            _ => key.show(&config),
        };
        let (name, value, meaning) = (key.name, key.value, key.meaning);
        let _ = writeln!(table, "| `{name}` | {value} | {default} | {meaning} |");
    }
    expect(&table);
}

#[test]
fn every_key_of_a_lane_is_on_the_page() {
    let mut table = String::from("| key | value | default | |\n|---|---|---|---|\n");
    let lane = LaneConfig::default();
    for key in LaneKey::ALL {
        let default = match key.name {
            // It is mandatory.
            "priority" => "–".to_owned(),
            _ => key.show(&lane),
        };
        let (name, value, meaning) = (key.name, key.value, key.meaning);
        let _ = writeln!(table, "| `{name}` | {value} | {default} | {meaning} |");
    }
    expect(&table);
}

#[test]
fn every_profile_is_on_the_page() {
    let default = Config::default();
    for (name, purpose) in Config::PROFILES {
        let config = Config::profile(name).unwrap();
        let mut section = format!("### {name}\n\nFor {purpose}.\n");
        let differences: String = ConfigKey::ALL
            .iter()
            // Lanes have separate sections below.
            .filter(|key| key.name != "lanes")
            .filter(|key| key.show(&config) != key.show(&default))
            .map(|key| {
                let value = key.show(&config);
                // The number of threads is that of the processors.
                let value = value.split(':').next().unwrap_or_default();
                format!("{} = {}\n", key.name, toml_value(value))
            })
            .collect();
        if !differences.is_empty() {
            let lanes = lane_sections(&config);
            let _ = write!(section, "\n```toml\n{differences}{lanes}");
        }
        expect(&section);
    }
}

#[test]
fn every_argument_is_on_the_page() {
    for (name, _) in ARGUMENTS {
        expect(&format!("`{name}"));
    }
}

#[test]
fn every_example_on_the_page_can_be_read() {
    let page = page();
    for (language, least) in [("toml", 5), ("conf", 2)] {
        let begin = format!("```{language}\n");
        let examples = page.split(&*begin).skip(1);
        let mut count = 0;
        for example in examples {
            let text = example.split("```").next().unwrap();
            file::parse::<Config>("docs/configuration.md", text, None).unwrap();
            count += 1;
        }
        assert!(count >= least, "{language}: {count}");
    }
}

/// A truncated or altered file is read or refused, without a panic.
#[test]
fn files_that_are_cut_or_changed_anywhere_are_read_or_refused() {
    let page = page();
    let example = page.split("```toml\n").nth(1).unwrap();
    let text = example.split("```").next().unwrap();
    for (at, _) in text.char_indices() {
        let (before, rest) = text.split_at(at);
        let after: String = rest.chars().skip(1).collect();
        let _ = file::parse::<Config>("x", before, None);
        for other in ["", "\"", "=", "[", "]", "#", "-", "µ", "9", "\n", "static "] {
            let _ = file::parse::<Config>("x", &format!("{before}{other}{after}"), None);
        }
    }
}

/// A configuration's lanes in the syntax of files.
fn lane_sections(config: &Config) -> String {
    let mut text = String::new();
    for lane in &config.lanes {
        let _ = writeln!(text, "\n[lane.{}]", lane.name);
        for key in LaneKey::ALL {
            let shown = key.show(lane);
            if shown != key.show(&LaneConfig::default()) {
                let _ = writeln!(text, "{} = {}", key.name, toml_value(&shown));
            }
        }
    }
    text
}
