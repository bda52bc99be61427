// SPDX-License-Identifier: MIT OR Apache-2.0
//! The preprocessor: ISO C++ preprocessing as required for IDL (CORBA 3.3 Part 1, 7.3).
//!
//! It turns the main file and all included files into one list of tokens. Pragmas, and the
//! beginnings and ends of files, matter only to repository ids; they are stored separately, with
//! the index of the following token.

mod condition;
mod definition;
mod directive;
mod expansion;
mod reading;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::builtin;
use crate::diagnostic::Reporter;
use crate::loader::Loader;
use crate::options::Options;
use crate::source::{SourceMap, Span};
use crate::syntax::scanner::Scanner;
use crate::syntax::token::{Interner, Token, TokenKind};

use definition::Macro;

/// An event between two tokens.
#[derive(Debug)]
pub(crate) enum Event {
    /// `#pragma` with its tokens.
    Pragma { tokens: Vec<Token>, span: Span },
    /// An included file begins.
    Enter,
    /// An included file ends.
    Leave,
}

/// The output of the preprocessor for the parser.
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
    macros: HashMap<Rc<str>, Rc<Macro>>,
    /// Macros that are being expanded, which are not expanded again within.
    active: HashMap<Rc<str>, usize>,
    frames: Vec<Frame>,
    output: Vec<Token>,
    events: Vec<(usize, Event)>,
    files: Vec<PathBuf>,
    included: usize,
    file_depth: usize,
    expanded: usize,
    argument_depth: usize,
    last_span: Span,
    /// The number of the present file among those compiled together.
    unit: usize,
}

/// The present sources of tokens; the innermost is last.
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
    /// Whether another of the files compiled together has included it: only its macros are new.
    is_known: bool,
    /// Whether it has been reported that its content differs this time.
    is_different: bool,
}

/// An `#if` without its `#endif` so far.
struct Conditional {
    span: Span,
    /// Whether a group of it has been selected.
    taken: bool,
    /// Whether the current group is selected.
    active: bool,
    /// Whether the enclosing group is being skipped.
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
            macros: HashMap::new(),
            active: HashMap::new(),
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
            unit: 0,
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
            self.macros.remove(name.as_str());
        }
    }

    /// Preprocesses a text given by the caller.
    /// None if it is too large, which has been reported.
    pub(crate) fn run_text(mut self, name: &str, bytes: Vec<u8>) -> Option<TokenStream> {
        if let Err(problem) = self.check_size(&bytes) {
            self.report_unreadable(name, &problem);
            return None;
        }
        self.open(name, Path::new(name), bytes, true);
        self.drain();
        self.sources.compile(0);
        Some(self.finish())
    }

    /// Preprocesses files of one project: each begins without the macros of the others, and common
    /// included files are output once. None if one cannot be read, which has been reported.
    pub(crate) fn run_files(mut self, paths: &[&Path]) -> Option<TokenStream> {
        let mut compiled = Vec::new();
        for path in paths {
            let known = self.sources.find(&self.loader.identity(path));
            if let Some(known) = known {
                compiled.push(known);
                continue;
            }
            let bytes = self.read(path)?;
            compiled.push(u32::try_from(self.sources.files.len()).unwrap_or(u32::MAX));
            let name = path.display().to_string();
            self.open(&name, path, bytes, true);
            // A prefix set in one file does not apply to the next.
            let several = paths.len() > 1;
            if several {
                self.events.push((self.output.len(), Event::Enter));
            }
            self.drain();
            if several {
                self.events.push((self.output.len(), Event::Leave));
            }
            self.next_unit();
        }
        for file in &compiled {
            self.sources.compile(*file);
        }
        Some(self.finish())
    }

    /// Removes the definitions of the previous file.
    fn next_unit(&mut self) {
        self.unit += 1;
        self.included = 0;
        self.macros = HashMap::new();
        self.active = HashMap::new();
        self.predefine();
        for file in &mut self.sources.files {
            file.tokens.sort_unstable();
        }
    }

    /// Outputs a token, unless an earlier file of the project has output it.
    fn put_out(&mut self, token: Token) -> bool {
        let mut known = false;
        let mut different = false;
        for frame in self.frames.iter_mut().rev() {
            if let Frame::File(file) = frame {
                known = file.is_known;
                if known && !file.is_different && token.span.file == file.source {
                    let tokens = &self.sources.files[file.source as usize].tokens;
                    different = tokens.binary_search(&token.span.start).is_err();
                    file.is_different = different;
                }
                break;
            }
        }
        if different {
            let message = "this was not there when another file of the project included it";
            self.report
                .error("differs-by-includer", token.span, message)
                .help("compile the two files separately, or define the macros that it depends on for all");
        }
        if !known {
            if let Some(file) = self.sources.files.get_mut(token.span.file as usize) {
                file.tokens.push(token.span.start);
            }
            self.output.push(token);
        }
        !known
    }

    fn drain(&mut self) {
        let mut import = None;
        while let Some(mut token) = self.next_expanded() {
            self.limit_identifier(&mut token);
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
            if !self.put_out(token) {
                continue;
            }
            if begins && !self.options.pre_corba3 {
                import = Some(self.output.len());
            } else if ends && let Some(start) = import.take() {
                self.import(start);
            }
        }
    }

    /// Reports an identifier that is too long, and shortens it.
    fn limit_identifier(&mut self, token: &mut Token) {
        let limit = self.options.limits.identifier;
        if token.is_identifier()
            && let Some(start) = token.text.get(..limit)
            && start.len() < token.text.len()
        {
            let message = format!("this identifier has more than {limit} octets");
            self.report
                .error("identifier-too-long", token.span, message);
            token.text = self.names.intern(start);
        }
    }

    fn finish(mut self) -> TokenStream {
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

    /// Aborts: no further text is read.
    fn abort(&mut self, code: &'static str, span: Span, message: &str) {
        self.report.error(code, span, message);
        while let Some(frame) = self.frames.pop() {
            if let Frame::File(file) = frame {
                self.keep_comments(file);
            }
        }
    }

    fn open(&mut self, name: &str, path: &Path, bytes: Vec<u8>, is_main: bool) {
        let identity = self.loader.identity(path);
        let source = match self.sources.find(&identity).filter(|_| !is_main) {
            Some(known) => known,
            None => {
                let new = self.sources.add(name, identity, bytes);
                self.sources.files[new as usize].unit = self.unit;
                new
            }
        };
        let including = self.current_file().map(|file| file.source);
        if let Some(including) = including {
            self.sources.files[including as usize].includes.push(source);
        }
        if self.sources.files[source as usize].once == Some(self.unit) {
            return;
        }
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
            is_known: self.sources.files[source as usize].unit < self.unit,
            is_different: false,
        }));
        self.file_depth += 1;
        if !is_main {
            self.events.push((self.output.len(), Event::Enter));
        }
    }

    /// Reports a file in UTF-16, which is not supported.
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

    /// The next token without expansion. Directives before it are executed.
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
            && let Some(count) = self.active.get_mut(&name)
        {
            *count = count.saturating_sub(1);
        }
    }

    /// Inserts tokens before all unread ones.
    fn push_tokens(&mut self, name: Option<Rc<str>>, tokens: Vec<Token>) {
        if let Some(name) = &name {
            *self.active.entry(Rc::clone(name)).or_default() += 1;
        }
        self.frames.push(Frame::Tokens {
            name,
            tokens,
            next: 0,
        });
    }

    /// The present file, ignoring macro expansions.
    fn current_file(&mut self) -> Option<&mut FileFrame> {
        for frame in self.frames.iter_mut().rev() {
            if let Frame::File(file) = frame {
                return Some(file);
            }
        }
        None
    }

    /// Reads the rest of the directive's line as tokens, without errors for free text.
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
