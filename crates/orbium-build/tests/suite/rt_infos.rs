// SPDX-License-Identifier: MIT OR Apache-2.0
//! RT_Infos in generated code.

use std::fs;

use orbium_build::Error;

use crate::build::Folder;

const GYRO: &str =
    "module Nav { interface Gyro { @rt(wcet=\"2 ms\", period=\"50 ms\") long read(); }; };";

/// Conformance: RT 6 - RIDL: constants of generated code, an index for each operation
#[test]
fn annotations_become_constants() {
    let folder = Folder::new("rt_infos");
    let gyro = folder.file("gyro.idl", GYRO);
    let plain = folder.config().try_compile(&gyro).unwrap();
    let without = fs::read_to_string(&plain.written[0]).unwrap();
    assert!(!without.contains("orbium_sched"));
    let compiled = folder
        .config()
        .rt_infos("timing")
        .try_compile(&gyro)
        .unwrap();
    let with = fs::read_to_string(&compiled.written[0]).unwrap();
    let added = with.strip_prefix(&without).unwrap();
    for text in [
        "pub mod timing {\n",
        "    pub const NAV_GYRO_READ: usize = 0;\n",
        "    pub static OPERATIONS: [orbium_sched::Declaration; 1] = [\n",
        "worst_case_execution_time: orbium_sched::Time::from_ticks(20000),\n",
    ] {
        assert!(added.contains(text), "{added}");
    }
}

#[test]
fn a_module_needs_a_name() {
    let folder = Folder::new("rt_infos_names");
    let gyro = folder.file("gyro.idl", GYRO);
    for name in ["", "_", "2nd", "a-b", "a b", "Timing", "a::b"] {
        let refused = folder.config().rt_infos(name).try_compile(&gyro);
        assert!(
            matches!(&refused, Err(Error::RtInfos { module, .. }) if module == name),
            "{name}: {refused:?}"
        );
    }
}
