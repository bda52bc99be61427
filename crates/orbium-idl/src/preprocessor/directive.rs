// SPDX-License-Identifier: MIT OR Apache-2.0
//! Directives: lines that begin with the token `#`.

use std::path::{Path, PathBuf};

use super::{Conditional, Event, Frame, Preprocessor};
use crate::builtin;
use crate::parser::extra_tokens;
use crate::source::Span;
use crate::syntax::literal;
use crate::syntax::token::{Token, TokenKind, spelled};

/// A requested file.
struct Wanted {
    name: String,
    quoted: bool,
    span: Span,
}

impl Preprocessor<'_> {
    /// Executes the directive after the `#` just read.
    pub(super) fn directive(&mut self, hash: &Token, skipping: bool) {
        let Some(Frame::File(file)) = self.frames.last_mut() else {
            return;
        };
        file.scanner.lenient = true;
        let Some(name) = file.scanner.next_on_line(&mut self.names, self.report) else {
            self.directive_tokens();
            return;
        };
        let span = hash.span.to(name.span);
        match &*name.text {
            "if" | "ifdef" | "ifndef" => self.begin_conditional(&name, span, skipping),
            "elif" => self.elif(span),
            "else" => self.otherwise(span),
            "endif" => self.endif(span),
            _ if skipping => {
                self.directive_tokens();
            }
            "include" => self.include(span),
            "define" => self.define(),
            "undef" => {
                let tokens = self.directive_tokens();
                match tokens.first() {
                    Some(name) if name.is_identifier() => {
                        self.macros.remove(&name.text);
                    }
                    _ => self.malformed(span, "`#undef` needs the name of a macro"),
                }
            }
            "line" => {
                let tokens = self.directive_tokens();
                let tokens = self.expand_list(tokens);
                self.line_marker(span, &tokens);
            }
            "error" => {
                let message = self.free_text();
                let message = format!("#error {message}");
                self.report
                    .error("error-directive", span, message.trim_end());
            }
            "warning" => {
                let message = self.free_text();
                let message = format!("#warning {message}");
                self.report
                    .warning("warning-directive", span, message.trim_end());
            }
            "pragma" => self.pragma(span),
            "ident" => {
                self.directive_tokens();
            }
            _ if name.kind == TokenKind::Number => {
                let mut tokens = vec![name];
                tokens.append(&mut self.directive_tokens());
                self.line_marker(span, &tokens);
            }
            other => {
                let message = format!("unknown preprocessor directive `#{other}`");
                self.report.error("unknown-directive", span, message);
                self.directive_tokens();
            }
        }
    }

    /// `#pragma once` is executed here; other pragmas are stored for the parser.
    fn pragma(&mut self, span: Span) {
        let tokens = self.directive_tokens();
        let unit = self.unit;
        let Some(file) = self.current_file() else {
            return;
        };
        let (source, is_known) = (file.source, file.is_known);
        if let [once, rest @ ..] = tokens.as_slice()
            && once.is("once")
        {
            extra_tokens(self.report, rest, "#pragma once");
            self.sources.files[source as usize].once = Some(unit);
            return;
        }
        let span = tokens.last().map_or(span, |last| span.to(last.span));
        // The pragmas of a known file are already among the events.
        if !is_known {
            self.events
                .push((self.output.len(), Event::Pragma { tokens, span }));
        }
    }

    fn free_text(&mut self) -> String {
        let tokens = self.directive_tokens();
        let mut text = String::new();
        for token in &tokens {
            if token.spaced && !text.is_empty() {
                text.push(' ');
            }
            text.push_str(&token.text);
        }
        text
    }

    fn malformed(&mut self, span: Span, message: &str) {
        self.report.error("malformed-directive", span, message);
    }

    /// `#line n "file"` and `# n "file" flags`. Flag 1 marks the beginning of an included file,
    /// flag 2 the return to the including one.
    fn line_marker(&mut self, span: Span, tokens: &[Token]) {
        let line = tokens.first().and_then(|t| literal::whole(&t.text, 10));
        let Some(line) = line.and_then(|line| u32::try_from(line).ok()) else {
            self.malformed(span, "`#line` needs a line number");
            return;
        };
        let name = tokens.get(1).filter(|t| t.kind == TokenKind::Text);
        let name = name.map(|t| t.text.trim_matches('"').to_owned());
        self.sources.mark(span, line, name.as_deref());
        for flag in tokens.get(2..).unwrap_or(&[]) {
            match &*flag.text {
                "1" => self.events.push((self.output.len(), Event::Enter)),
                "2" => self.events.push((self.output.len(), Event::Leave)),
                _ => {}
            }
        }
    }

    fn begin_conditional(&mut self, directive: &Token, span: Span, skipping: bool) {
        let tokens = self.directive_tokens();
        let holds = match &*directive.text {
            _ if skipping => false,
            "if" => self.condition(span, &tokens),
            word => match tokens.first() {
                Some(name) if name.is_identifier() => {
                    self.macros.contains_key(&name.text) == (word == "ifdef")
                }
                _ => {
                    self.malformed(span, "the name of a macro is expected here");
                    false
                }
            },
        };
        let conditional = Conditional {
            span,
            taken: holds,
            active: holds,
            outer_skipped: skipping,
            seen_else: false,
        };
        if let Some(file) = self.current_file() {
            file.conditions.push(conditional);
        }
    }

    fn elif(&mut self, span: Span) {
        let tokens = self.directive_tokens();
        let Some(open) = self.current_file().and_then(|f| f.conditions.last()) else {
            self.malformed(span, "`#elif` without `#if`");
            return;
        };
        if open.seen_else {
            self.malformed(span, "`#elif` after `#else`");
            return;
        }
        let wanted = !open.taken && !open.outer_skipped;
        let holds = wanted && self.condition(span, &tokens);
        if let Some(open) = self.current_file().and_then(|f| f.conditions.last_mut()) {
            open.active = holds;
            open.taken |= holds;
        }
    }

    fn otherwise(&mut self, span: Span) {
        self.directive_tokens();
        let open = self.current_file().and_then(|f| f.conditions.last_mut());
        let problem = match open {
            None => "`#else` without `#if`",
            Some(open) if open.seen_else => "a second `#else` for one `#if`",
            Some(open) => {
                open.active = !open.taken && !open.outer_skipped;
                open.taken = true;
                open.seen_else = true;
                return;
            }
        };
        self.malformed(span, problem);
    }

    fn endif(&mut self, span: Span) {
        self.directive_tokens();
        let closed = self.current_file().and_then(|f| f.conditions.pop());
        if closed.is_none() {
            self.malformed(span, "`#endif` without `#if`");
        }
    }

    fn include(&mut self, span: Span) {
        let curly = self.at_curly_quote();
        let wanted = self.wanted_file(span);
        let Some(wanted) = wanted else {
            let message = "`#include` needs a file name in quotes or angle brackets";
            let draft = self.report.error("malformed-directive", span, message);
            if curly {
                draft.help("the quotes are curly: write straight ones, `\"`");
            }
            return;
        };
        let limits = &self.options.limits;
        if self.file_depth >= limits.include_depth || self.included >= limits.includes {
            let message = "files include each other too deeply; does this file include itself?";
            self.abort("include-too-deep", wanted.span, message);
            return;
        }
        self.included += 1;
        match self.find(&wanted) {
            Ok((path, bytes)) => {
                let name = path.display().to_string();
                self.open(&name, &path, bytes, false);
            }
            Err(problem) => {
                let message = format!("cannot include `{}`: {problem}", wanted.name);
                self.report
                    .error("include-not-found", wanted.span, message)
                    .help("give the folder that holds it as an include path");
            }
        }
    }

    /// `import` (CORBA 3.3 Part 1, 7.6): the definitions are read from a file named after the
    /// scope, which is searched like an included one, and read once. `start` is the index of the
    /// name among the output tokens. Whether the name was found is checked at the end.
    pub(super) fn import(&mut self, start: usize) {
        let tokens = self.output.get(start..).unwrap_or(&[]);
        let mut named = None;
        for token in tokens {
            if matches!(token.kind, TokenKind::Identifier | TokenKind::Text) {
                named = named.or(Some(token));
            }
        }
        let Some(named) = named else { return };
        let span = named.span;
        let text = named.text.trim_matches('"');
        let scope = match text.strip_prefix("IDL:") {
            Some(id) => id
                .rsplit_once(':')
                .map_or(id, |(body, _)| body)
                .rsplit('/')
                .next()
                .unwrap_or(id),
            None => text,
        };
        let wanted = Wanted {
            name: format!("{scope}.idl"),
            quoted: true,
            span,
        };
        let limits = &self.options.limits;
        if self.file_depth >= limits.include_depth || self.included >= limits.includes {
            return;
        }
        if let Ok((path, bytes)) = self.find(&wanted) {
            if self.sources.find(&self.loader.identity(&path)).is_some() {
                return;
            }
            self.included += 1;
            let name = path.display().to_string();
            self.open(&name, &path, bytes, false);
        }
    }

    fn at_curly_quote(&mut self) -> bool {
        let Some(Frame::File(file)) = self.frames.last_mut() else {
            return false;
        };
        file.scanner.peek_line(self.report).starts_with(['“', '”'])
    }

    /// Parses `"name"` or `<name>`, possibly from a macro, and consumes the line.
    fn wanted_file(&mut self, directive: Span) -> Option<Wanted> {
        let Some(Frame::File(file)) = self.frames.last_mut() else {
            return None;
        };
        let line = file.scanner.peek_line(self.report);
        let close = match line.chars().next() {
            Some('"') => '"',
            Some('<') => '>',
            _ => {
                let tokens = self.directive_tokens();
                let tokens = self.expand_list(tokens);
                let text = spelled(&tokens);
                return delimited(&text).map(|(name, quoted)| Wanted {
                    name,
                    quoted,
                    span: directive,
                });
            }
        };
        let end = line
            .get(1..)
            .and_then(|rest| rest.find(close))
            .map(|end| end + 1);
        let wanted = end.and_then(|end| {
            let name = line.get(1..end)?.to_owned();
            Some(Wanted {
                name,
                quoted: close == '"',
                span: directive,
            })
        });
        let wanted = match (wanted, end) {
            (Some(wanted), Some(end)) => {
                let span = file.scanner.here(end + 1);
                file.scanner.advance(end + 1);
                Some(Wanted { span, ..wanted })
            }
            _ => None,
        };
        let rest = self.directive_tokens();
        if wanted.is_some() {
            extra_tokens(self.report, &rest, "#include");
        }
        wanted
    }

    /// Searches the folder of the including file (last for angle brackets), then the include paths,
    /// then the built-in files.
    fn find(&mut self, wanted: &Wanted) -> Result<(PathBuf, Vec<u8>), String> {
        let name = Path::new(&wanted.name);
        let own = self.current_file().and_then(|f| f.folder.clone());
        let mut candidates = Vec::new();
        if name.is_absolute() {
            candidates.push(name.to_owned());
        } else {
            for folder in &self.options.include_paths {
                candidates.push(folder.join(name));
            }
            if let Some(own) = own {
                let place = if wanted.quoted { 0 } else { candidates.len() };
                candidates.insert(place, own.join(name));
            }
        }
        for path in candidates {
            let known = self.files.contains(&path);
            if known && self.sources.find(&self.loader.identity(&path)).is_some() {
                return Ok((path, Vec::new()));
            }
            if let Some(bytes) = self.load(&path)? {
                return Ok((path, bytes));
            }
        }
        match builtin::file(&wanted.name) {
            Some((path, text)) => Ok((path, text.as_bytes().to_vec())),
            None => Err("file not found".to_owned()),
        }
    }

    /// `#if` and `#elif`.
    fn condition(&mut self, span: Span, tokens: &[Token]) -> bool {
        let tokens = self.replace_defined(tokens);
        let tokens = self.expand_list(tokens);
        match super::condition::evaluate(&tokens, self.options.limits.nesting) {
            Ok(value) => value,
            Err(problem) => {
                self.malformed(span, &problem);
                false
            }
        }
    }

    /// Replaces `defined X` and `defined(X)` by 1 or 0.
    fn replace_defined(&mut self, tokens: &[Token]) -> Vec<Token> {
        let mut result = Vec::with_capacity(tokens.len());
        let mut next = 0;
        while let Some(token) = tokens.get(next) {
            next += 1;
            let parenthesised = token.is("defined") && is_at(tokens, next, "(");
            next += usize::from(parenthesised);
            let name = tokens.get(next).filter(|t| t.is_identifier());
            let Some(name) = name.filter(|_| token.is("defined")) else {
                result.push(token.clone());
                continue;
            };
            next += 1;
            if parenthesised && is_at(tokens, next, ")") {
                next += 1;
            }
            let value = if self.macros.contains_key(&name.text) {
                "1"
            } else {
                "0"
            };
            result.push(Token {
                kind: TokenKind::Number,
                text: self.names.intern(value),
                ..token.clone()
            });
        }
        result
    }
}

fn is_at(tokens: &[Token], index: usize, text: &str) -> bool {
    tokens.get(index).is_some_and(|token| token.is(text))
}

fn delimited(text: &str) -> Option<(String, bool)> {
    let quoted = text.strip_prefix('"').and_then(|t| t.strip_suffix('"'));
    let angled = text.strip_prefix('<').and_then(|t| t.strip_suffix('>'));
    quoted
        .map(|name| (name.to_owned(), true))
        .or_else(|| angled.map(|name| (name.to_owned(), false)))
}
