// SPDX-License-Identifier: MIT OR Apache-2.0
//! Input of a generation: the model, with definitions implied by the options.

use std::borrow::Cow;

use orbium_idl_model::Model;

use crate::implied::{self, ReplyHandlers};
use crate::options::Options;

/// A model and options, with reply handlers if the options request them: the module `Messaging` is
/// the façade's then.
pub(crate) struct Prepared<'m> {
    pub(crate) model: Cow<'m, Model>,
    pub(crate) options: Cow<'m, Options>,
    pub(crate) reply_handlers: ReplyHandlers,
}

impl<'m> Prepared<'m> {
    pub(crate) fn new(model: &'m Model, options: &'m Options) -> Self {
        let mut prepared = Self {
            model: Cow::Borrowed(model),
            options: Cow::Borrowed(options),
            reply_handlers: ReplyHandlers::default(),
        };
        if options.has_handlers() {
            prepared.reply_handlers = implied::add(prepared.model.to_mut());
            let is_used = prepared.model.lookup("::Messaging").is_some();
            if is_used && options.external("::Messaging").is_none() {
                let runtime = options.runtime_path();
                let facade = runtime.strip_suffix("::codegen").unwrap_or(runtime);
                let path = format!("{facade}::messaging");
                let options = options.clone().external_module("Messaging", path);
                prepared.options = Cow::Owned(options);
            }
        }
        prepared
    }
}
