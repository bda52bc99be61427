// SPDX-License-Identifier: MIT OR Apache-2.0
//! The preprocessor: ISO C++ preprocessing as IDL asks for it (CORBA 3.3 Part 1, 7.3).
//!
//! It turns the main file and everything it includes into one list of tokens. Pragmas, and the
//! places where a file begins and ends, matter to repository ids only; they are kept beside the
//! tokens with the index of the token they precede.

mod condition;
mod directive;
mod expansion;

use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::builtin;
use crate::diagnostic::{Reporter, Severity};
use crate::loader::Loader;
use crate::model::NameMap;
use crate::options::Options;
use crate::scanner::Scanner;
use crate::source::{SourceMap, Span};
use crate::token::{Interner, Token, TokenKind};

use expansion::Macro;

/// Something between two tokens.
#[derive(Debug)]
pub(crate) enum Event {
    /// `#pragma` with its tokens.
    Pragma { tokens: Vec<Token>, span: Span },
    /// An included file begins.
    Enter,
    /// An included file ends.
    Leave,
}

/// What the preprocessor hands to the parser.
#[derive(Debug)]
pub(crate) struct TokenStream {
    /// All tokens, the last being [`TokenKind::End`].
    pub(crate) tokens: Vec<Token>,
    /// Events with the index of the token before which they happen, in order.
    pub(crate) events: Vec<(usize, Event)>,
    /// Files read, in order of their first use.
    pub(crate) files: Vec<PathBuf>,
}

pub(crate) struct Preprocessor<'a> {
    options: &'a Options,
    loader: &'a dyn Loader,
    sources: &'a mut SourceMap,
    report: &'a mut Reporter,
    names: Interner,
    macros: NameMap<Rc<Macro>>,
    /// Macros being expanded, which are not expanded again inside.
    active: NameMap<usize>,
    frames: Vec<Frame>,
    output: Vec<Token>,
    events: Vec<(usize, Event)>,
    files: Vec<PathBuf>,
    included: usize,
    file_depth: usize,
    expanded: usize,
    argument_depth: usize,
    last_span: Span,
}

/// Where tokens come from at the moment; the innermost is last.
enum Frame {
    File(FileFrame),
    Tokens {
        name: Option<Rc<str>>,
        tokens: Vec<Token>,
        next: usize,
    },
}

struct FileFrame {
    scanner: Scanner,
    source: u32,
    folder: Option<PathBuf>,
    conditions: Vec<Conditional>,
    is_main: bool,
}

/// An `#if` whose `#endif` has not been seen.
struct Conditional {
    span: Span,
    /// Some group of it has been taken.
    taken: bool,
    /// The current group is being taken.
    active: bool,
    /// What surrounds it is being skipped.
    outer_skipped: bool,
    seen_else: bool,
}

impl<'a> Preprocessor<'a> {
    pub(crate) fn new(
        options: &'a Options,
        loader: &'a dyn Loader,
        sources: &'a mut SourceMap,
        report: &'a mut Reporter,
    ) -> Self {
        let mut preprocessor = Preprocessor {
            options,
            loader,
            sources,
            report,
            names: Interner::default(),
            macros: NameMap::default(),
            active: NameMap::default(),
            frames: Vec::new(),
            output: Vec::new(),
            events: Vec::new(),
            files: Vec::new(),
            included: 0,
            file_depth: 0,
            expanded: 0,
            argument_depth: 0,
            last_span: Span {
                file: 0,
                start: 0,
                end: 0,
            },
        };
        preprocessor.predefine();
        preprocessor
    }

    fn predefine(&mut self) {
        self.define_text("__ORBIUM_IDL__", "1");
        let options = self.options;
        for (name, replacement) in &options.defines {
            self.define_text(name, replacement);
        }
        for name in &options.undefines {
            *self.macros.slot(name) = None;
        }
    }

    /// Preprocesses a text given by the caller.
    pub(crate) fn run_text(mut self, name: &str, bytes: Vec<u8>) -> TokenStream {
        self.open(name, Path::new(name), bytes, true);
        self.run()
    }

    /// Preprocesses a file. None when it cannot be read, which has been reported.
    pub(crate) fn run_file(mut self, path: &Path) -> Option<TokenStream> {
        let name = path.display().to_string();
        let problem = match self.loader.load(path) {
            Ok(Some(bytes)) => {
                self.files.push(path.to_owned());
                self.open(&name, path, bytes, true);
                return Some(self.run());
            }
            Ok(None) => "there is no such file".to_owned(),
            Err(error) => error.to_string(),
        };
        let message = format!("cannot read `{name}`: {problem}");
        self.report
            .report(Severity::Error, "unreadable-file", None, message);
        None
    }

    fn run(mut self) -> TokenStream {
        let mut import = None;
        while let Some(token) = self.next_expanded() {
            if self.output.len() >= self.options.limits.tokens {
                self.abort(
                    "too-many-tokens",
                    token.span,
                    "the file is too large once preprocessed",
                );
                break;
            }
            self.last_span = token.span;
            let ends = token.is(";");
            let begins = token.is("import") && self.output.last().is_none_or(|t| t.is(";"));
            self.output.push(token);
            if begins && !self.options.pre_corba3 {
                import = Some(self.output.len());
            } else if ends && let Some(start) = import.take() {
                self.import(start);
            }
        }
        let end = Token {
            kind: TokenKind::End,
            text: "".into(),
            span: self.last_span.after(),
            starts_line: true,
            spaced: true,
            painted: false,
        };
        self.output.push(end);
        TokenStream {
            tokens: self.output,
            events: self.events,
            files: self.files,
        }
    }

    /// Gives up: nothing more is read from anywhere.
    fn abort(&mut self, code: &'static str, span: Span, message: &str) {
        self.report.error(code, span, message);
        while let Some(frame) = self.frames.pop() {
            if let Frame::File(file) = frame {
                self.keep_comments(file);
            }
        }
    }

    fn open(&mut self, name: &str, path: &Path, bytes: Vec<u8>, is_main: bool) {
        let source = match self.sources.find(path).filter(|_| !is_main) {
            Some(known) => known,
            None => self.sources.add(name, path, bytes),
        };
        let text = self.sources.files[source as usize].text.clone();
        let folder = path
            .parent()
            .filter(|_| !path.starts_with(builtin::FOLDER))
            .map(Path::to_owned);
        if text.starts_with("\u{ff}\u{fe}") || text.starts_with("\u{fe}\u{ff}") {
            self.wide_text(source);
            return;
        }
        let scanner = Scanner::new(text, source);
        self.frames.push(Frame::File(FileFrame {
            scanner,
            source,
            folder,
            conditions: Vec::new(),
            is_main,
        }));
        self.file_depth += 1;
    }

    /// A file in UTF-16, of which nothing can be read.
    fn wide_text(&mut self, file: u32) {
        let span = Span {
            file,
            start: 0,
            end: 1,
        };
        self.report
            .error(
                "utf-16",
                span,
                "this file is UTF-16, and IDL is read as UTF-8",
            )
            .help("save it as UTF-8");
    }

    fn close(&mut self, mut file: FileFrame) {
        self.file_depth -= 1;
        for open in std::mem::take(&mut file.conditions) {
            self.report
                .error(
                    "missing-endif",
                    open.span,
                    "this conditional has no `#endif`",
                )
                .help("add `#endif` where the conditional part ends");
        }
        if !file.is_main {
            self.events.push((self.output.len(), Event::Leave));
        }
        self.keep_comments(file);
    }

    fn keep_comments(&mut self, file: FileFrame) {
        let source = &mut self.sources.files[file.source as usize];
        if source.comments.len() < file.scanner.comments.len() {
            source.comments = file.scanner.comments;
        }
    }

    /// The next token without expansion. Directives are obeyed on the way.
    fn next_raw(&mut self) -> Option<Token> {
        loop {
            match self.frames.last_mut()? {
                Frame::Tokens { tokens, next, .. } => {
                    if let Some(token) = tokens.get(*next) {
                        *next += 1;
                        return Some(token.clone());
                    }
                    self.leave_tokens();
                }
                Frame::File(file) => {
                    let skipping = file.conditions.last().is_some_and(|c| !c.active);
                    file.scanner.lenient = skipping;
                    let Some(token) = file.scanner.next(&mut self.names, self.report) else {
                        if let Some(Frame::File(file)) = self.frames.pop() {
                            self.close(file);
                        }
                        continue;
                    };
                    if token.starts_line && token.is("#") {
                        self.directive(&token, skipping);
                    } else if skipping {
                        file.scanner.rest_of_line(&mut self.names, self.report);
                    } else {
                        return Some(token);
                    }
                }
            }
        }
    }

    fn leave_tokens(&mut self) {
        if let Some(Frame::Tokens {
            name: Some(name), ..
        }) = self.frames.pop()
            && let Some(count) = self.active.slot(&name)
        {
            *count = count.saturating_sub(1);
        }
    }

    /// Puts tokens before all else that is to be read.
    fn push_tokens(&mut self, name: Option<Rc<str>>, tokens: Vec<Token>) {
        if let Some(name) = &name {
            *self.active.slot(name).get_or_insert(0) += 1;
        }
        self.frames.push(Frame::Tokens {
            name,
            tokens,
            next: 0,
        });
    }

    /// The file being read, looking through macro expansions.
    fn current_file(&mut self) -> Option<&mut FileFrame> {
        for frame in self.frames.iter_mut().rev() {
            if let Frame::File(file) = frame {
                return Some(file);
            }
        }
        None
    }

    /// Reads the rest of the directive's line as tokens, without complaint about free text.
    fn directive_tokens(&mut self) -> Vec<Token> {
        match self.frames.last_mut() {
            Some(Frame::File(file)) => {
                file.scanner.lenient = true;
                file.scanner.rest_of_line(&mut self.names, self.report)
            }
            _ => Vec::new(),
        }
    }
}
