// SPDX-License-Identifier: MIT OR Apache-2.0
//! Report of a call: results, exceptions and timing, for people and as JSON.

use std::time::Duration;

use orbium::cdr::CdrError;
use orbium::{Any, ObjectRef, SystemException, cdr::TCKind};
use orbium_dynamic::{JsonOptions, Request, RequestError, quoted, to_json};

use crate::failure::Failure;
use crate::object::ping;
use crate::output::{self, printable};
use crate::stage::timing::{Timing, latency, thousands};

/// The latencies of repeated calls.
pub(super) struct Repeated {
    pub(super) calls: u64,
    /// The first one, with the connection.
    pub(super) first: Duration,
    /// The others, if there are any.
    pub(super) timing: Option<Timing>,
}

/// Prints the results.
pub(super) fn results(
    request: &Request,
    repeated: Option<&Repeated>,
    json: bool,
    options: &JsonOptions<'_>,
) -> Result<(), Failure> {
    let shown = if json {
        as_object(request, options).map(Some)
    } else {
        for_people(request, options)
    };
    let shown =
        shown.map_err(|error| Failure::because(format!("the result cannot be shown: {error}")))?;
    let mut text = String::new();
    match (shown, repeated) {
        (Some(shown), Some(repeated)) if json => {
            text = format!("{{\"result\":{shown},{}}}\n", timing_json(repeated));
        }
        (Some(shown), _) => text = format!("{shown}\n"),
        (None, _) => {}
    }
    if let Some(repeated) = repeated.filter(|_| !json) {
        text.push_str(&timing_text(repeated));
    }
    output::print(&text)
}

/// The return value and the `out` parameters, each with its name.
fn returned(request: &Request) -> Vec<(&str, &Any)> {
    let mut returned = Vec::new();
    if request.return_value().type_code().kind() != TCKind::Null {
        returned.push(("$return", request.return_value()));
    }
    for argument in request.arguments() {
        if argument.direction().is_returned() {
            returned.push((argument.name(), argument.value()));
        }
    }
    returned
}

/// The value alone if there is only one; `None` if there is none.
fn for_people(request: &Request, options: &JsonOptions<'_>) -> Result<Option<String>, CdrError> {
    match returned(request)[..] {
        [] => Ok(None),
        [("$return", value)] => to_json(value, options).map(Some),
        _ => as_object(request, options).map(Some),
    }
}

fn as_object(request: &Request, options: &JsonOptions<'_>) -> Result<String, CdrError> {
    to_json(&request.results()?, options)
}

fn timing_json(repeated: &Repeated) -> String {
    let Repeated {
        calls,
        first,
        timing,
    } = repeated;
    let mut text = format!("\"calls\":{calls},\"first_ns\":{}", first.as_nanos());
    if let Some(timing) = timing {
        text.push_str(&format!(
            ",\"median_ns\":{},\"p99_ns\":{},\"calls_per_second\":{:.1}",
            timing.median, timing.p99, timing.rate
        ));
    }
    text
}

fn timing_text(repeated: &Repeated) -> String {
    let first = latency(u64::try_from(repeated.first.as_nanos()).unwrap_or(u64::MAX));
    match &repeated.timing {
        None => format!("1 call: {first}, connecting included\n"),
        Some(timing) => format!(
            "{} calls: first {first}, connecting included; others median {}  p99 {}  {} calls/s\n",
            thousands(repeated.calls as f64),
            latency(timing.median),
            latency(timing.p99),
            thousands(timing.rate)
        ),
    }
}

/// Prints an exception as JSON if requested; the failure of the command otherwise.
pub(super) fn failed(
    object: &ObjectRef,
    timeout: Duration,
    error: &RequestError,
    json: bool,
    options: &JsonOptions<'_>,
) -> Failure {
    if json {
        let printed = output::announce(&format!("{}\n", exception_json(error, options)));
        return printed.err().unwrap_or(Failure::Shown);
    }
    let one_line = JsonOptions {
        indent: None,
        ..*options
    };
    Failure::because(match error {
        RequestError::User(exception) => {
            let code = exception.type_code();
            let members = to_json(exception, &one_line);
            let members = members.unwrap_or_else(|error| format!("({error})"));
            format!("the operation raised {} {members}", printable(code.id()))
        }
        RequestError::Unlisted { .. } => format!("the operation raised the {error}"),
        RequestError::System(exception) => {
            let unreached = ping::unreached(object, timeout, *exception);
            unreached.unwrap_or_else(|| format!("the call raised {exception}"))
        }
    })
}

fn exception_json(error: &RequestError, options: &JsonOptions<'_>) -> String {
    let id = quoted(error.repository_id());
    match error {
        RequestError::User(exception) => {
            let members = to_json(exception, options).unwrap_or_else(|_| "{}".to_owned());
            match members.trim_start_matches('{') {
                "}" => format!("{{\"$exception\":{id}}}"),
                rest => format!("{{\"$exception\":{id},{rest}"),
            }
        }
        RequestError::Unlisted { members, .. } => {
            let members = orbium_dynamic::base64(members);
            format!("{{\"$exception\":{id},\"$base64\":{}}}", quoted(&members))
        }
        RequestError::System(exception) => {
            let SystemException {
                minor, completed, ..
            } = exception;
            let text = quoted(&exception.to_string());
            format!(
                "{{\"$exception\":{id},\"minor\":{minor},\"completed\":\"{completed}\",\"text\":{text}}}"
            )
        }
    }
}
