// SPDX-License-Identifier: MIT OR Apache-2.0
//! State that a layer above keeps for as long as one message is written: the values in it.

use core::any::{Any, TypeId};

use super::CdrWriter;
use super::remembers::{MessageState, Remembers, WrittenState};
use crate::boxed_state::BoxedState;
use crate::{Format, Owner};

impl CdrWriter<'_> {
    /// Whether references or values of value types were written: their receiver must not get
    /// those that the sender has. Known to a writer that copies everything.
    #[doc(hidden)]
    #[must_use]
    pub fn refers(&self) -> bool {
        self.remembers.refers()
    }

    /// A writer that finds out whether values can be lent to a servant of that owner rather than
    /// copied; it copies what is written. References that [`lends`](Self::lends) lends need not
    /// be written.
    #[doc(hidden)]
    #[must_use]
    pub fn lending(format: Format, owner: &Owner) -> Self {
        let mut writer = Self::new(format);
        writer.remembers = Remembers::lending(owner);
        writer
    }

    /// Whether a reference of that owner, without policies, can be lent: then it need not be
    /// written.
    #[doc(hidden)]
    #[must_use]
    #[inline]
    pub fn lends(&self, owner: &Owner) -> bool {
        self.remembers.lends(owner)
    }

    /// The state of type `T` that belongs to this message, or to the present
    /// [encapsulation](CdrWriter::encapsulation): made by its default where there is none.
    ///
    /// From here on nothing is gathered. Messages that never ask have no state and pay for
    /// none.
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

    /// Writes what need not outlive the writer: `body` gets a writer that copies everything
    /// and goes on where this one is.
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

    /// Takes back what was written after the first `at` octets of [`written`](Self::written),
    /// which must lie behind any gathered slice. Errors stay.
    ///
    /// # Panics
    /// If fewer octets were written: a fault of the caller.
    pub fn take_back(&mut self, at: usize) {
        assert!(at <= self.at, "only what was written can be taken back");
        self.at = at;
    }
}
