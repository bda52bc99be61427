// SPDX-License-Identifier: MIT OR Apache-2.0
//! Comparison of code on a page of the documentation with a file.

/// Code without comments and formatting, so that code on a page can be found in a file that is
/// compiled.
#[must_use]
pub fn essence(code: &str) -> String {
    let lines = code.lines().map(|line| match line.trim() {
        comment if comment.starts_with("//") => "",
        line => line.split_once(" //").map_or(line, |(code, _)| code),
    });
    let mut out: String = lines.collect::<Vec<_>>().join("\n");
    out.retain(|letter| !letter.is_whitespace());
    [",)", ",}", ",]", ",>"]
        .iter()
        .fold(out, |out, end| out.replace(end, &end[1..]))
}
