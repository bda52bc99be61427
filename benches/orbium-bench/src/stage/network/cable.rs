// SPDX-License-Identifier: MIT OR Apache-2.0
//! A remote host (a network name space) and a cable from it to this one: a pair of virtual Ethernet
//! devices, of which this host's receives by NAPI, as a network card does.

use std::ffi::OsStr;
use std::fs;
use std::process::Command;

use orbium_cli::Failure;

use super::link::run;

/// The address of this host on the cable.
pub(crate) const HERE: &str = "10.79.0.1";
const OUTSIDE: &str = "10.79.0.2";

/// The cable; dropping it removes it, and the remote host.
#[derive(Debug)]
pub(crate) struct Cable {
    outside: String,
    device: String,
}

impl Cable {
    /// # Errors
    /// `ip` and `ethtool` are not installed, or fail: they require privileges.
    pub(crate) fn new() -> Result<Self, Failure> {
        let pid = std::process::id();
        let cable = Self {
            outside: format!("orbium-bench-{pid}-outside"),
            device: format!("orbium{pid}"),
        };
        let (outside, device) = (&cable.outside, &cable.device);
        run(&format!("ip netns add {outside}"))?;
        run(&format!(
            "ip link add {device} type veth peer name cable netns {outside}"
        ))?;
        // Without GRO such a device receives on the sender's thread, not by NAPI.
        run(&format!("ethtool -K {device} gro on"))?;
        run(&format!("ip address add {HERE}/24 dev {device}"))?;
        run(&format!("ip link set {device} up"))?;
        run(&format!(
            "ip -n {outside} address add {OUTSIDE}/24 dev cable"
        ))?;
        run(&format!("ip -n {outside} link set cable up"))?;
        Ok(cable)
    }

    /// This host's end of it.
    pub(crate) fn device(&self) -> &str {
        &self.device
    }

    /// The command that runs a program on the remote host.
    pub(crate) fn outside(&self, program: &OsStr) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.outside]).arg(program);
        command
    }

    /// Makes one processor receive packets, in interrupts, as the one that a network card
    /// interrupts; without one, the kernel receives where NAPI runs.
    pub(crate) fn receive_on(&self, processor: Option<usize>) -> Result<(), Failure> {
        let file = format!("/sys/class/net/{}/queues/rx-0/rps_cpus", self.device);
        let mask = processor.map_or(0_u64, |number| 1 << number);
        fs::write(&file, format!("{mask:x}"))
            .map_err(|error| Failure::because(format!("{file}: {error}")))
    }

    /// Pins the kernel's thread that receives for this host's end (threaded NAPI) to a processor.
    pub(crate) fn keep_thread_on(&self, processor: usize) -> Result<(), Failure> {
        let prefix = format!("napi/{}-", self.device);
        let processes = fs::read_dir("/proc").map_err(|error| {
            Failure::because(format!("the kernel's threads are not to be seen: {error}"))
        })?;
        let receives = |pid: &String| {
            fs::read_to_string(format!("/proc/{pid}/comm"))
                .is_ok_and(|name| name.starts_with(&prefix))
        };
        let thread = processes
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok())
            .find(receives)
            .ok_or_else(|| Failure::because(format!("there is no thread `{prefix}…`")))?;
        run(&format!("taskset -p -c {processor} {thread}"))
    }
}

impl Drop for Cable {
    fn drop(&mut self) {
        // The device of this host is removed with its other end.
        let _ = run(&format!("ip netns delete {}", self.outside));
        let _ = run(&format!("ip link delete {}", self.device));
    }
}
