// SPDX-License-Identifier: MIT OR Apache-2.0
//! A service that one ORB serves and another one calls.

use std::path::{Path, PathBuf};

use orbium::{Config, Orb};
use orbium_schedule_service::rt_scheduler::Importance;
use orbium_schedule_service::rt_scheduler2::Scheduler;
use orbium_schedule_service::{ScheduleService, ServiceError, rtec_scheduler};

pub(crate) struct Served {
    pub(crate) orb: Orb,
    pub(crate) service: ScheduleService,
    client: Orb,
}

impl Served {
    pub(crate) fn new() -> Self {
        Self::with(ScheduleService::in_memory).unwrap()
    }

    pub(crate) fn open(file: &Path) -> Result<Self, ServiceError> {
        Self::with(|orb| ScheduleService::open(orb, file))
    }

    fn with(
        service: impl FnOnce(&Orb) -> Result<ScheduleService, ServiceError>,
    ) -> Result<Self, ServiceError> {
        let config = Config {
            endpoints: vec!["iiop://127.0.0.1:0".parse().unwrap()],
            ..Config::default()
        };
        let orb = Orb::new(config).unwrap();
        let service = service(&orb)?;
        let client = Orb::builder().build().unwrap();
        Ok(Self {
            orb,
            service,
            client,
        })
    }

    pub(crate) fn address(&self) -> String {
        let port = self.orb.addresses().unwrap()[0].port;
        format!("corbaloc::127.0.0.1:{port}/ScheduleService")
    }

    /// What applications have.
    pub(crate) fn remote(&self) -> Scheduler {
        self.client.resolve(&self.address()).unwrap()
    }

    /// What applications of TAO have.
    pub(crate) fn rtec(&self) -> rtec_scheduler::Scheduler {
        let address = self.address();
        let key = address.replace("ScheduleService", "RtecScheduleService");
        self.client.resolve(&key).unwrap()
    }

    /// The privileged one of those, as another process has it.
    pub(crate) fn rtec_privileged(&self) -> rtec_scheduler::Scheduler {
        let text = self.orb.object_to_string(&self.service.rtec_privileged());
        self.client.resolve(&text).unwrap()
    }

    /// The privileged reference, as another process has it.
    pub(crate) fn privileged(&self) -> Scheduler {
        let text = self.orb.object_to_string(&self.service.privileged());
        self.client.resolve(&text).unwrap()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.client.shutdown(true);
        let _ = self.orb.shutdown(true);
    }
}

/// Registers an operation, with times in milliseconds.
pub(crate) fn register(scheduler: &Scheduler, name: &str, period: i32, time: u64) -> i32 {
    let handle = scheduler.create(name).unwrap();
    let (period, time) = (period * 10_000, time * 10_000);
    let medium = Importance::MediumImportance;
    scheduler
        .set(handle, time, 0, 0, period, medium, 0, 0)
        .unwrap();
    handle
}

/// A file of one test, removed in the end.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new(name: &str) -> Self {
        let name = format!("orbium-schedule-{}-{name}", std::process::id());
        Self(Path::new(env!("CARGO_TARGET_TMPDIR")).join(name))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}
