// SPDX-License-Identifier: MIT OR Apache-2.0
//! The servant that is called.

use std::sync::Mutex;

use orbium::{Any, Call, ExceptionKind, ObjectRef, SystemException};

use super::Answer;
use super::golden::handled::{
    Dented, Empty, EmptyError, EmptyOrDentedError, Gauge, GaugeServant, Note, NoteState,
    OtherServant, Reading, Replaced, ReplacedError, Tank, TankDrainResults, TankNextResults,
    TankServant,
};

/// Raises what its label says.
#[derive(Default)]
pub(super) struct Servant {
    pub(super) label: Mutex<String>,
    /// What takes its place, once it is closed.
    pub(super) by: Option<Gauge>,
}

impl GaugeServant for Servant {
    fn label(&self, _: &Call<'_>) -> Answer<String> {
        Ok(self.label.lock().unwrap().clone())
    }
    fn set_label(&self, _: &Call<'_>, value: &str) -> Answer<()> {
        value.clone_into(&mut self.label.lock().unwrap());
        Ok(())
    }
    fn last(&self, _: &Call<'_>) -> Result<Reading, EmptyError> {
        match self.label.lock().unwrap().as_str() {
            "empty" => Err(Empty {}.into()),
            _ => Ok(reading(3)),
        }
    }
    fn level(&self, _: &Call<'_>) -> Result<i32, EmptyOrDentedError> {
        match self.label.lock().unwrap().as_str() {
            "empty" => Err(Empty {}.into()),
            "dented" => Err(dented().into()),
            "refused" => Err(refused().into()),
            _ => Ok(7),
        }
    }
    fn close(&self, _: &Call<'_>) -> Result<(), ReplacedError> {
        match &self.by {
            None => Ok(()),
            by => Err(Replaced { by: by.clone() }.into()),
        }
    }
    fn reset(&self, _: &Call<'_>) -> Answer<()> {
        Ok(())
    }
    fn at_once(&self, _: &Call<'_>) -> Answer<()> {
        Ok(())
    }
}

impl OtherServant for Servant {
    fn is_other(&self, _: &Call<'_>) -> Answer<bool> {
        Ok(true)
    }
}

impl TankServant for Servant {
    fn fill(&self, _: &Call<'_>, unit: &str, level: &mut i32, remark: &str) -> Answer<Reading> {
        *level += 1;
        let unit = format!("{unit} {remark}");
        Ok(Reading { level: 0, unit })
    }
    fn drain(&self, _: &Call<'_>, most: &[Reading]) -> Result<TankDrainResults, EmptyError> {
        match most {
            [] => Err(Empty {}.into()),
            [_, left @ ..] => Ok(TankDrainResults {
                left: left.to_vec(),
                remark: "žluť".into(),
            }),
        }
    }
    fn next(
        &self,
        _: &Call<'_>,
        near: Option<&Tank>,
        _: &mut Option<ObjectRef>,
    ) -> Answer<TankNextResults> {
        Ok(TankNextResults {
            result: near.cloned(),
            about: Some(Note::new(NoteState { text: "new".into() })),
            all: Any::new(&5i32)?,
        })
    }
    fn fill_excep(&self, _: &Call<'_>, _: i32) -> Answer<()> {
        Ok(())
    }
    fn sendc_drain(&self, _: &Call<'_>) -> Answer<()> {
        Ok(())
    }
    fn get_level(&self, _: &Call<'_>) -> Answer<()> {
        Ok(())
    }
    fn level_too(&self, _: &Call<'_>) -> Answer<i32> {
        Ok(8)
    }
    fn set_level_too(&self, _: &Call<'_>, _: i32) -> Answer<()> {
        Err(refused())
    }
    fn get_level_too(&self, _: &Call<'_>) -> Answer<()> {
        Ok(())
    }
    fn r#type(&self, _: &Call<'_>) -> Answer<()> {
        Ok(())
    }
}

pub(super) fn reading(level: i32) -> Reading {
    let unit = "litre".into();
    Reading { level, unit }
}

pub(super) fn dented() -> Dented {
    Dented {
        by: 4,
        where_at: "above".into(),
    }
}

pub(super) fn refused() -> SystemException {
    ExceptionKind::NoPermission.into()
}
