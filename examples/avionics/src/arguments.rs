// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a process of the example does.

use std::path::PathBuf;

use crate::{Failure, schedule};

/// The operations that have a process, by the names of those.
pub(crate) const SENSORS: [(&str, usize); 5] = [
    ("INS", schedule::AVIONICS_AIRFRAME_INS),
    ("ADC", schedule::AVIONICS_AIRFRAME_ADC),
    ("GPS", schedule::AVIONICS_AIRFRAME_GPS),
    ("HUD", schedule::AVIONICS_AIRFRAME_HUD),
    ("BIT", schedule::AVIONICS_AIRFRAME_BIT),
];

#[derive(Debug)]
pub(crate) struct Arguments {
    pub(crate) role: Role,
    pub(crate) seconds: u64,
    pub(crate) fault: bool,
    pub(crate) load: bool,
    pub(crate) svg: Option<PathBuf>,
}

#[derive(Debug)]
pub(crate) enum Role {
    /// The air frame, which starts all other processes.
    Program,
    /// Threads without an ORB.
    Bare,
    /// A process that calls an operation in each period.
    Sensor { operation: usize, air_frame: String },
    /// A process that calls the least urgent operation without pause.
    Load { air_frame: String },
}

impl Arguments {
    pub(crate) fn parse(mut from: impl Iterator<Item = String>) -> Result<Self, Failure> {
        let mut arguments = Self {
            role: Role::Program,
            seconds: 5,
            fault: false,
            load: false,
            svg: None,
        };
        while let Some(argument) = from.next() {
            let mut value = || {
                let value = from.next();
                value.ok_or_else(|| Failure::from(format!("{argument} needs a value")))
            };
            match &*argument {
                "--seconds" => {
                    let seconds = value()?;
                    arguments.seconds = match seconds.parse() {
                        Ok(number @ 1..=86_400) => number,
                        _ => return Err(format!("`{seconds}` is no time from 1 to 86400 s").into()),
                    };
                }
                "--fault" => arguments.fault = true,
                "--load" => arguments.load = true,
                "--bare" => arguments.role = Role::Bare,
                "--svg" => arguments.svg = Some(value()?.into()),
                "sensor" => {
                    let name = value()?;
                    let found = SENSORS.iter().find(|(of, _)| *of == name);
                    let (_, operation) = found.ok_or_else(|| format!("no sensor `{name}`"))?;
                    arguments.role = Role::Sensor {
                        operation: *operation,
                        air_frame: value()?,
                    };
                }
                "load" => {
                    arguments.role = Role::Load {
                        air_frame: value()?,
                    }
                }
                other => return Err(format!("unknown argument `{other}`").into()),
            }
        }
        Ok(arguments)
    }
}
