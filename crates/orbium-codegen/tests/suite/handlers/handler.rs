// SPDX-License-Identifier: MIT OR Apache-2.0
//! A reply handler that reports what it takes.

use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender};

use orbium::messaging::{ExceptionHolder, ReplyHandlerServant};
use orbium::{Any, Call, ObjectRef, SystemException};

use super::Answer;
use super::golden::handled::{
    AmiAmiOtherHandlerServant, AmiGaugeHandlerServant, AmiTankHandlerServant, Dented, Empty,
    EmptyError, EmptyOrDentedError, Note, Reading, Replaced, ReplacedError, Tank,
};

/// What a handler was called with.
#[derive(Debug, PartialEq)]
pub(super) enum Taken {
    Label(String),
    Last(Reading),
    Level(i32),
    IsOther(bool),
    Fill(Reading, i32),
    Drain(usize, String),
    Next(bool, bool, String, i32),
    Nothing(&'static str),
    Empty,
    Dented(Dented),
    /// What the object says that an exception names.
    Replaced(String),
    System(SystemException),
}

/// A handler that reports what it takes. With a gate it waits for that first.
pub(super) struct Handler {
    pub(super) taken: Sender<Taken>,
    pub(super) gate: Option<Mutex<Receiver<()>>>,
}

impl Handler {
    fn take(&self, what: Taken) -> Answer<()> {
        if let Some(gate) = &self.gate {
            let _ = gate.lock().unwrap().recv();
        }
        let _ = self.taken.send(what);
        Ok(())
    }

    fn take_system(&self, holder: Option<&ExceptionHolder>) -> Answer<()> {
        self.take(Taken::System(holder.unwrap().raise_exception()))
    }
}

fn of_empty(raised: &EmptyError) -> Taken {
    match raised {
        EmptyError::Empty(Empty {}) => Taken::Empty,
        EmptyError::System(system) => Taken::System(*system),
    }
}

impl ReplyHandlerServant for Handler {}

impl AmiGaugeHandlerServant for Handler {
    fn get_label(&self, _: &Call<'_>, label: &str) -> Answer<()> {
        self.take(Taken::Label(label.to_owned()))
    }
    fn set_label(&self, _: &Call<'_>) -> Answer<()> {
        self.take(Taken::Nothing("set_label"))
    }
    fn get_last(&self, _: &Call<'_>, last: &Reading) -> Answer<()> {
        self.take(Taken::Last(last.clone()))
    }
    fn level(&self, _: &Call<'_>, level: i32) -> Answer<()> {
        self.take(Taken::Level(level))
    }
    fn close(&self, _: &Call<'_>) -> Answer<()> {
        self.take(Taken::Nothing("close"))
    }
    fn get_label_excep(&self, _: &Call<'_>, holder: Option<&ExceptionHolder>) -> Answer<()> {
        self.take_system(holder)
    }
    fn set_label_excep(&self, _: &Call<'_>, holder: Option<&ExceptionHolder>) -> Answer<()> {
        self.take_system(holder)
    }
    fn get_last_excep(&self, _: &Call<'_>, holder: Option<&ExceptionHolder>) -> Answer<()> {
        self.take(of_empty(&holder.unwrap().raise_exception()))
    }
    fn level_excep(&self, _: &Call<'_>, holder: Option<&ExceptionHolder>) -> Answer<()> {
        let holder = holder.unwrap();
        self.take(match holder.raise_exception() {
            EmptyOrDentedError::Empty(Empty {}) => Taken::Empty,
            EmptyOrDentedError::Dented(dented) => {
                assert!(!holder.is_system_exception());
                Taken::Dented(dented)
            }
            EmptyOrDentedError::System(system) => Taken::System(system),
        })
    }
    fn close_excep(&self, _: &Call<'_>, holder: Option<&ExceptionHolder>) -> Answer<()> {
        self.take(match holder.unwrap().raise_exception() {
            ReplacedError::Replaced(Replaced { by }) => Taken::Replaced(by.unwrap().label()?),
            ReplacedError::System(system) => Taken::System(system),
        })
    }
}

impl AmiAmiOtherHandlerServant for Handler {
    fn is_other(&self, _: &Call<'_>, is_other: bool) -> Answer<()> {
        self.take(Taken::IsOther(is_other))
    }
    fn is_other_excep(&self, _: &Call<'_>, holder: Option<&ExceptionHolder>) -> Answer<()> {
        self.take_system(holder)
    }
}

impl AmiTankHandlerServant for Handler {
    fn fill(&self, _: &Call<'_>, filled: &Reading, level: i32) -> Answer<()> {
        self.take(Taken::Fill(filled.clone(), level))
    }
    fn drain(&self, _: &Call<'_>, left: &[Reading], remark: &str) -> Answer<()> {
        self.take(Taken::Drain(left.len(), remark.to_owned()))
    }
    fn next(
        &self,
        _: &Call<'_>,
        next: Option<&Tank>,
        any_one: Option<&ObjectRef>,
        about: Option<&Note>,
        all: &Any,
    ) -> Answer<()> {
        let text = about.unwrap().read().text.clone();
        let all = all.extract::<i32>()?;
        self.take(Taken::Next(next.is_some(), any_one.is_some(), text, all))
    }
    fn fill_excep(&self, _: &Call<'_>) -> Answer<()> {
        self.take(Taken::Nothing("fill_excep"))
    }
    fn sendc_drain(&self, _: &Call<'_>) -> Answer<()> {
        self.take(Taken::Nothing("sendc_drain"))
    }
    fn get_level(&self, _: &Call<'_>) -> Answer<()> {
        self.take(Taken::Nothing("get_level"))
    }
    fn get_ami_level_too(&self, _: &Call<'_>, level: i32) -> Answer<()> {
        self.take(Taken::Level(level))
    }
    fn set_level_too(&self, _: &Call<'_>) -> Answer<()> {
        self.take(Taken::Nothing("set_level_too"))
    }
    fn get_level_too(&self, _: &Call<'_>) -> Answer<()> {
        self.take(Taken::Nothing("get_level_too"))
    }
    fn r#type(&self, _: &Call<'_>) -> Answer<()> {
        self.take(Taken::Nothing("type"))
    }
    fn fill_ami_excep(&self, _: &Call<'_>, holder: Option<&ExceptionHolder>) -> Answer<()> {
        self.take_system(holder)
    }
    fn drain_excep(&self, _: &Call<'_>, holder: Option<&ExceptionHolder>) -> Answer<()> {
        self.take(of_empty(&holder.unwrap().raise_exception()))
    }
    fn next_excep(&self, _: &Call<'_>, holder: Option<&ExceptionHolder>) -> Answer<()> {
        self.take_system(holder)
    }
    fn fill_excep_excep(&self, _: &Call<'_>, holder: Option<&ExceptionHolder>) -> Answer<()> {
        self.take_system(holder)
    }
    fn sendc_drain_excep(&self, _: &Call<'_>, holder: Option<&ExceptionHolder>) -> Answer<()> {
        self.take_system(holder)
    }
    fn get_level_excep(&self, _: &Call<'_>, holder: Option<&ExceptionHolder>) -> Answer<()> {
        self.take_system(holder)
    }
    fn get_ami_level_too_excep(
        &self,
        _: &Call<'_>,
        holder: Option<&ExceptionHolder>,
    ) -> Answer<()> {
        self.take_system(holder)
    }
    fn set_level_too_excep(&self, _: &Call<'_>, holder: Option<&ExceptionHolder>) -> Answer<()> {
        self.take_system(holder)
    }
    fn get_level_too_excep(&self, _: &Call<'_>, holder: Option<&ExceptionHolder>) -> Answer<()> {
        self.take_system(holder)
    }
    fn type_excep(&self, _: &Call<'_>, holder: Option<&ExceptionHolder>) -> Answer<()> {
        self.take_system(holder)
    }
}
