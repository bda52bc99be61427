// SPDX-License-Identifier: MIT OR Apache-2.0
//! Length and branching of functions.

use syn::visit::{self, Visit};

use super::module_tree::{attributes, is_test};

/// A function with a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Function {
    pub(crate) name: String,
    /// The line of its `fn`.
    pub(crate) line: usize,
    /// The lines from `fn` to the closing brace, inclusive.
    pub(crate) lines: usize,
    /// Cyclomatic complexity (McCabe): branches and one. Branches are `if`, loops with a
    /// condition, every arm of `match` but the first, `&&`, `||`, `?` and `let … else`.
    pub(crate) complexity: usize,
}

/// The functions of a file, except in tests.
pub(crate) fn functions(file: &syn::File) -> Vec<Function> {
    let mut walk = Walk(Vec::new());
    walk.visit_file(file);
    walk.0
}

struct Walk(Vec<Function>);

impl Walk {
    fn add(&mut self, signature: &syn::Signature, body: &syn::Block) {
        let first = signature.fn_token.span.start().line;
        let last = body.brace_token.span.close().end().line;
        let mut branches = Branches(0);
        branches.visit_block(body);
        self.0.push(Function {
            name: signature.ident.to_string(),
            line: first,
            lines: last - first + 1,
            complexity: branches.0 + 1,
        });
    }
}

impl<'ast> Visit<'ast> for Walk {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if !is_test(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.add(&function.sig, &function.block);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        if !is_test(&function.attrs) {
            self.add(&function.sig, &function.block);
            visit::visit_impl_item_fn(self, function);
        }
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        if let Some(body) = &function.default {
            self.add(&function.sig, body);
        }
        visit::visit_trait_item_fn(self, function);
    }
}

struct Branches(usize);

impl<'ast> Visit<'ast> for Branches {
    /// Nested functions are counted separately.
    fn visit_item(&mut self, _: &'ast syn::Item) {}

    fn visit_expr(&mut self, expression: &'ast syn::Expr) {
        self.0 += match expression {
            syn::Expr::If(_) | syn::Expr::While(_) | syn::Expr::ForLoop(_) | syn::Expr::Try(_) => 1,
            syn::Expr::Match(choice) => choice.arms.len().saturating_sub(1),
            syn::Expr::Binary(syn::ExprBinary {
                op: syn::BinOp::And(_) | syn::BinOp::Or(_),
                ..
            }) => 1,
            _ => 0,
        };
        visit::visit_expr(self, expression);
    }

    fn visit_local_init(&mut self, init: &'ast syn::LocalInit) {
        self.0 += usize::from(init.diverge.is_some());
        visit::visit_local_init(self, init);
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        self.0 += usize::from(arm.guard.is_some());
        visit::visit_arm(self, arm);
    }
}
