// SPDX-License-Identifier: MIT OR Apache-2.0
//! RT_Infos in generated code.

use std::fs;
use std::path::{Path, PathBuf};

use orbium_build::{Config, Error};
use orbium_ridl::RtInfos;

const GYRO: &str =
    "module Nav { interface Gyro { @rt(wcet=\"2 ms\", period=\"50 ms\") long read(); }; };";

/// Compiles `idl`, with the extension, in a folder of the test's own.
fn compiled(test: &str, idl: &str, extension: RtInfos) -> Result<String, Error> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let file: PathBuf = folder.join("gyro.idl");
    fs::write(&file, idl).unwrap();
    let config = Config::new().out_dir(&folder).extend(extension);
    let compiled = config.try_compile(&file)?;
    Ok(fs::read_to_string(&compiled.written[0]).unwrap())
}

/// Conformance: RT 6 - RIDL: constants of generated code, an index for each operation
#[test]
fn annotations_become_constants() {
    let without = compiled("checked", GYRO, RtInfos::checked()).unwrap();
    assert!(!without.contains("orbium_sched"));
    let with = compiled("constants", GYRO, RtInfos::module("timing")).unwrap();
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
fn a_mistake_ends_the_compilation() {
    let idl = "interface Gyro { @rt(wcet=\"soon\") long read(); };";
    for extension in [RtInfos::checked(), RtInfos::module("timing")] {
        let refused = compiled("mistake", idl, extension);
        let Err(Error::Idl { diagnostics, .. }) = &refused else {
            panic!("{refused:?}");
        };
        assert!(diagnostics.contains("gyro.idl:1:"), "{diagnostics}");
    }
}

#[test]
fn a_module_needs_a_name() {
    for name in ["", "_", "2nd", "a-b", "a b", "Timing", "a::b"] {
        let refused = compiled("module_names", GYRO, RtInfos::module(name));
        let Err(Error::Extension(reason)) = &refused else {
            panic!("{name}: {refused:?}");
        };
        assert!(
            reason.starts_with(&format!("there is no module `{name}` of RT_Infos")),
            "{reason}"
        );
    }
}
