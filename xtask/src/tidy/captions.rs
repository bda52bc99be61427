// SPDX-License-Identifier: MIT OR Apache-2.0
//! First lines of documentation that begin with a question word in place of a noun or a verb.

use proc_macro2::LexError;

/// Words that begin neither the caption of a module, a noun phrase, nor that of an item.
const QUESTIONS: [&str; 11] = [
    "How", "That", "Those", "Until", "What", "Whatever", "When", "Where", "Which", "Who", "Why",
];

/// Such captions with their lines: the first line of the module, and of each item.
///
/// # Errors
/// None: any text has lines.
pub(super) fn listed(text: &str) -> Result<Vec<(usize, String)>, LexError> {
    let lines = || (1..).zip(text.lines().map(str::trim_start));
    let module = lines().find(|(_, line)| line.starts_with("//!"));
    let module = module.filter(|(_, line)| opening(line) == "Whether");
    let first = lines().filter(|(_, line)| is_documentation(line));
    let mut before = None;
    let captions = first.filter(|(number, line)| {
        let follows = before == Some(number - 1);
        before = Some(*number);
        !follows && QUESTIONS.contains(&opening(line))
    });
    let captions = captions.chain(module);
    let mut found: Vec<_> = captions
        .map(|(number, line)| (number, format!("{} {}", &line[..3], opening(line))))
        .collect();
    found.sort();
    Ok(found)
}

fn is_documentation(line: &str) -> bool {
    line.starts_with("//!") || line.starts_with("///")
}

/// The first word of a line of documentation; the empty one if there is none.
fn opening(line: &str) -> &str {
    let words = line[3..].split(|it: char| !it.is_alphabetic());
    words
        .into_iter()
        .find(|it| !it.is_empty())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(usize, String)> {
        listed(text).unwrap()
    }

    #[test]
    fn the_first_line_of_a_module_alone_is_its_caption() {
        let text = "// A licence\n//! What is counted.\n//! How it is.\nfn f() {}\n";
        assert_eq!(found(text), [(2, "//! What".to_owned())]);
        assert!(found("//! Counts of a channel.\n//! What else.\n").is_empty());
    }

    #[test]
    fn the_first_line_of_an_item_is_its_caption() {
        let text =
            "/// A count.\n/// What else.\nfn f() {}\n\n    /// Where it is.\n    fn g() {}\n";
        assert_eq!(found(text), [(5, "/// Where".to_owned())]);
    }

    #[test]
    fn whether_begins_the_caption_of_an_item_and_of_no_module() {
        assert!(found("/// Whether it is empty.\nfn f() {}\n").is_empty());
        assert_eq!(
            found("//! Whether it is empty.\n"),
            [(1, "//! Whether".to_owned())]
        );
    }
}
