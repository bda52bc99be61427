// SPDX-License-Identifier: MIT OR Apache-2.0
//! `@qos` in a build script.

use std::fmt::Write;

use orbium_build::Extension;
use orbium_idl::Diagnostic;
use orbium_idl::model::{Definition, DefinitionKind, Model};
use orbium_sched::{Time, Timing};

use crate::annotation;
use crate::quality_fields::Fields;

/// The extension of the compiler that reads `@qos`: errors in it are reported, and the generated
/// code may end with a `Qos` for each operation that has one, as a constant.
///
/// ```text
/// interface Rudder {
///     @rt(period="50 ms", wcet="10 ms", criticality=HIGH)
///     @qos(class=MESSAGE, priority=20000, deadline="10 ms")
///     void steer();
/// };
/// ```
///
/// In a `build.rs`:
///
/// ```no_run
/// orbium_build::Config::new()
///     .extend(orbium_ridl::RtInfos::checked())
///     .extend(orbium_ridl::QosConstants::module("quality"))
///     .compile("idl/rudder.idl");
/// ```
///
/// The program then depends on the crate `orbium-qos` and calls
/// `rudder.with_qos(&quality::RUDDER_STEER)`. The timing of `@rt` of the same operation (period,
/// wcet, criticality, importance) is part of the constant. Inconsistent fields do not compile.
#[derive(Clone, Debug)]
pub struct QosConstants {
    module: Option<String>,
}

impl QosConstants {
    /// Checks the annotations and generates nothing.
    #[must_use]
    pub fn checked() -> Self {
        Self { module: None }
    }

    /// Adds a module of that name with the constants.
    #[must_use]
    pub fn module(name: impl Into<String>) -> Self {
        Self {
            module: Some(name.into()),
        }
    }
}

impl Extension for QosConstants {
    fn annotations(&self) -> &[&str] {
        &["qos"]
    }

    fn check(&self, model: &Model) -> Vec<Diagnostic> {
        let mut diagnostics = Vec::new();
        for definition in model.definitions() {
            fields(definition, &mut diagnostics);
        }
        diagnostics
    }

    fn code(&self, model: &Model) -> Result<String, String> {
        let Some(module) = &self.module else {
            return Ok(String::new());
        };
        if !annotation::is_module_name(module) {
            return Err(format!(
                "there is no module `{module}` of QoS: it is no name of a module"
            ));
        }
        Ok(code(model, module))
    }
}

/// The `@qos` of a definition; errors are reported.
fn fields(definition: &Definition, diagnostics: &mut Vec<Diagnostic>) -> Option<Fields> {
    let mut named = definition.annotations.iter().filter(|it| it.name == "qos");
    let qos = named.next()?;
    if !matches!(definition.kind, DefinitionKind::Operation(_)) {
        diagnostics.push(annotation::misplaced(qos));
        return None;
    }
    if let Some(second) = named.next() {
        diagnostics.push(annotation::repeated(second));
    }
    let mut fields = Fields::default();
    annotation::each_field(qos, &annotation::QOS, diagnostics, |field, value| {
        fields.set(field, value)
    });
    Some(fields)
}

fn code(model: &Model, module: &str) -> String {
    let mut text = format!(
        "\n/// The values that `@qos` and `@rt` set for operations.\n\
         #[allow(dead_code, unreachable_pub)]\npub mod {module} {{\n"
    );
    let mut names: Vec<String> = Vec::new();
    for definition in model.definitions() {
        // Errors were reported.
        let Some(fields) = fields(definition, &mut Vec::new()) else {
            continue;
        };
        let timing = definition.annotations.iter().find(|it| it.name == "rt");
        let timing = timing.map(|rt| annotation::timing(rt, &mut Vec::new()));
        let mut name = definition.path.join("_").to_ascii_uppercase();
        while names.contains(&name) {
            name.push('_');
        }
        constant(&mut text, definition, (&name, &fields, timing));
        names.push(name);
    }
    text.push_str("}\n");
    text
}

/// One constant, and the check that its fields are consistent.
fn constant(
    text: &mut String,
    definition: &Definition,
    (name, fields, timing): (&str, &Fields, Option<Timing>),
) {
    let path = definition.path.join("::");
    // Writing to a string does not fail.
    let _ = writeln!(text, "    /// Of `{path}`.");
    let _ = writeln!(
        text,
        "    pub const {name}: orbium_qos::Qos = orbium_qos::Qos {{"
    );
    for (field, value) in fields.values().chain(timed(timing)) {
        let _ = writeln!(text, "        {field}: {value},");
    }
    text.push_str("        ..orbium_qos::Qos::NONE\n    };\n");
    let _ = writeln!(text, "    const _: () = {name}.assert();");
}

/// The fields of `@rt` as Rust.
fn timed(timing: Option<Timing>) -> impl Iterator<Item = (&'static str, String)> {
    let time = |name, time: Time| {
        let value = crate::quality_fields::duration(time);
        (!time.is_zero()).then_some((name, value))
    };
    let of_rt = timing.map(|it| {
        let (criticality, importance) = (it.criticality, it.importance);
        [
            time("period", it.period),
            time("wcet", it.worst_case_execution_time),
            Some((
                "criticality",
                format!("Some(orbium_qos::Criticality::{criticality:?})"),
            )),
            Some((
                "importance",
                format!("Some(orbium_qos::Importance::{importance:?})"),
            )),
        ]
    });
    of_rt.into_iter().flatten().flatten()
}
