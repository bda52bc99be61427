// SPDX-License-Identifier: MIT OR Apache-2.0
//! State that a layer above keeps for as long as one message is written: the values in it.

use core::any::{Any, TypeId};

use super::CdrWriter;
use super::remembers::{MessageState, Remembers, WrittenState};
use crate::boxed_state::BoxedState;
use crate::{Format, Owner};

impl CdrWriter<'_> {
    /// Whether references or values of value types were written, of which the receiver must not get
    /// the sender's own. Determined by a writer that copies everything.
    #[doc(hidden)]
    #[must_use]
    pub fn refers(&self) -> bool {
        self.remembers.refers()
    }

    /// A writer that determines whether values can be passed to a servant of that owner without
    /// copying; it copies its input. References for which [`lends`](Self::lends) is true need not
    /// be written.
    #[doc(hidden)]
    #[must_use]
    pub fn lending(format: Format, owner: &Owner) -> Self {
        let mut writer = Self::new(format);
        writer.remembers = Remembers::lending(owner);
        writer
    }

    /// Whether a reference of that owner, without policies, can be passed without copying: then it
    /// need not be written.
    #[doc(hidden)]
    #[must_use]
    #[inline]
    pub fn lends(&self, owner: &Owner) -> bool {
        self.remembers.lends(owner)
    }

    /// The state of type `T` of this message, or of the current
    /// [encapsulation](CdrWriter::encapsulation): created by `Default` on first use.
    ///
    /// From here on nothing is gathered. Messages that do not use it have no state and no overhead.
    #[inline]
    pub fn message_state<T: WrittenState + Default>(&mut self) -> &mut T {
        let has_one = matches!(
            &self.remembers,
            Remembers::State(kept) if kept.get().is_some_and(|kept| kept.of == TypeId::of::<T>())
        );
        if !has_one {
            self.set_message_state(TypeId::of::<T>(), Box::new(T::default()));
        }
        let Remembers::State(kept) = &mut self.remembers else {
            unreachable!("the state was made above");
        };
        let state = kept.get_mut().map(|kept| &mut *kept.state as &mut dyn Any);
        match state.and_then(|state| state.downcast_mut()) {
            Some(state) => state,
            None => unreachable!("the state was made with this type above"),
        }
    }

    #[cold]
    fn set_message_state(&mut self, of: TypeId, state: Box<dyn WrittenState>) {
        let owner = self.owner();
        self.remembers =
            Remembers::State(BoxedState::new(Box::new(MessageState { of, state, owner })));
    }

    /// Writes data that need not outlive the writer: `body` receives a writer that copies
    /// everything and continues at the position of this one.
    pub fn copying<'b, R>(&mut self, body: impl FnOnce(&mut CdrWriter<'b>) -> R) -> R {
        let kept = match core::mem::replace(&mut self.remembers, Remembers::Slices) {
            Remembers::State(kept) => Some(kept),
            other => {
                self.remembers = other;
                None
            }
        };
        let mut inner = CdrWriter {
            storage: core::mem::take(&mut self.storage),
            at: self.at,
            bias: self.bias,
            swap: self.swap,
            format: self.format,
            error: self.error,
            gathered: [(0, &[]); super::MAX_GATHERED],
            gathered_count: 0,
            gathered_octets: self.gathered_octets,
            remembers: kept.map_or(Remembers::Owner(None), Remembers::State),
        };
        let result = body(&mut inner);
        self.storage = core::mem::take(&mut inner.storage);
        self.at = inner.at;
        self.bias = inner.bias;
        self.format = inner.format;
        self.error = inner.error;
        if let Remembers::State(kept) = inner.remembers {
            self.remembers = Remembers::State(kept);
        }
        result
    }

    /// Discards the octets after the first `at` octets of [`written`](Self::written), which must
    /// follow any gathered slice. Errors are kept.
    ///
    /// # Panics
    /// If fewer octets were written, an error of the caller.
    pub fn take_back(&mut self, at: usize) {
        assert!(at <= self.at, "only what was written can be taken back");
        self.at = at;
    }
}
