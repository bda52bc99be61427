// SPDX-License-Identifier: MIT OR Apache-2.0
//! Documentation comments of declarations, and their text without the comment marks.

use crate::source::{Comment, SourceFile, SourceMap, Span};

/// The comment directly above the declaration, or else the one behind its end on the same line.
pub(crate) fn comment_of(sources: &SourceMap, start: Span, end: Span) -> Option<String> {
    let file = sources.file(start.file)?;
    let text = match leading(file, start.start) {
        Some(comments) => clean(file, comments),
        None if end.file == start.file => clean(file, trailing(file, end.end)?),
        None => return None,
    };
    Some(text).filter(|t| !t.is_empty())
}

fn leading(file: &SourceFile, offset: u32) -> Option<&[Comment]> {
    let last = file
        .comments
        .partition_point(|comment| comment.end <= offset);
    let mut first = last;
    let mut below = offset;
    while let Some(comment) = first.checked_sub(1).and_then(|i| file.comments.get(i)) {
        if !comment.own_line || !directly_above(between(file, comment.end, below)?) {
            break;
        }
        first -= 1;
        below = comment.start;
    }
    let comments = file.comments.get(first..last).filter(|c| !c.is_empty())?;
    // A trailing comment may continue in the lines below it, in the same column.
    let continued = first
        .checked_sub(1)
        .and_then(|i| file.comments.get(i))
        .is_some_and(|before| {
            !before.own_line
                && between(file, before.end, comments[0].start).is_some_and(directly_above)
                && column(file, before.start) == column(file, comments[0].start)
        });
    Some(comments).filter(|_| !continued)
}

fn trailing(file: &SourceFile, offset: u32) -> Option<&[Comment]> {
    let first = file
        .comments
        .partition_point(|comment| comment.start < offset);
    let comment = file.comments.get(first)?;
    let gap = between(file, offset, comment.start)?;
    if !gap.chars().all(|c| matches!(c, ' ' | '\t' | ',' | ';')) {
        return None;
    }
    let at = column(file, comment.start);
    let mut last = first + 1;
    while let (Some(next), Some(before)) = (file.comments.get(last), file.comments.get(last - 1)) {
        let gap = between(file, before.end, next.start)?;
        if !next.own_line || !directly_above(gap) || column(file, next.start) != at {
            break;
        }
        last += 1;
    }
    file.comments.get(first..last)
}

fn between(file: &SourceFile, start: u32, end: u32) -> Option<&str> {
    file.text.get(start as usize..end as usize)
}

fn directly_above(gap: &str) -> bool {
    let mut ends = 0;
    for letter in gap.chars() {
        ends += usize::from(letter == '\n');
        if ends > 1 || !letter.is_whitespace() {
            return false;
        }
    }
    true
}

fn column(file: &SourceFile, offset: u32) -> u32 {
    offset - file.line_start(offset)
}

/// Removes comment marks, decoration and common indentation.
fn clean(file: &SourceFile, comments: &[Comment]) -> String {
    let mut lines: Vec<String> = Vec::new();
    for comment in comments {
        let text = between(file, comment.start, comment.end).unwrap_or("");
        match text.strip_prefix("//") {
            Some(rest) => {
                let rest = rest.strip_prefix(['/', '!']).unwrap_or(rest);
                lines.push(rest.strip_prefix('<').unwrap_or(rest).trim_end().to_owned());
            }
            None => lines.append(&mut block_lines(text)),
        }
    }
    for line in &mut lines {
        let decoration = line
            .trim()
            .chars()
            .all(|c| matches!(c, '-' | '=' | '*' | '/' | '#'));
        if decoration {
            line.clear();
        }
    }
    dedent(&mut lines);
    lines.join("\n").trim_matches('\n').trim_end().to_owned()
}

/// Removes the common indentation of all lines.
fn dedent(lines: &mut [String]) {
    let mut common = usize::MAX;
    for line in &*lines {
        if !line.is_empty() {
            common = common.min(line.len() - line.trim_start().len());
        }
    }
    for line in lines {
        *line = line.get(common..).unwrap_or("").to_owned();
    }
}

fn block_lines(text: &str) -> Vec<String> {
    let inner = text.strip_prefix("/*").unwrap_or(text);
    let inner = inner.strip_suffix("*/").unwrap_or(inner);
    let inner = inner.trim_end_matches('*');
    let stars = inner.trim_start_matches('*');
    let inner = stars.strip_prefix('!').unwrap_or(stars);
    let inner = inner.strip_prefix('<').unwrap_or(inner);
    let mut lines = inner.lines();
    // The first line starts behind the opening mark, so its indentation is meaningless.
    let first = lines.next().unwrap_or("").trim();
    let mut rest = Vec::new();
    for line in lines {
        let line = line.trim_end();
        let Some(after) = line.trim_start().strip_prefix('*') else {
            rest.push(line.to_owned());
            continue;
        };
        // The right side of a box, but not the end of `*this*`.
        let text = after.trim_end_matches('*');
        let boxed = text.ends_with(char::is_whitespace);
        rest.push(if boxed { text.trim_end() } else { after }.to_owned());
    }
    dedent(&mut rest);
    if !first.is_empty() {
        rest.insert(0, first.to_owned());
    }
    rest
}
