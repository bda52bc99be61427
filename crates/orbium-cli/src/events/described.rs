// SPDX-License-Identifier: MIT OR Apache-2.0
//! An event as JSON.

use orbium_dynamic::{JsonOptions, to_json};
use orbium_event::rtec::rtec_event_comm::Event;
use serde_json::{Value, json};

pub(super) fn described(event: &Event) -> Value {
    let header = &event.header;
    let any = to_json(&event.data.any_value, &JsonOptions::default());
    let any = any.map_err(|error| error.to_string());
    let any = any.and_then(|it| serde_json::from_str(&it).map_err(|error| error.to_string()));
    let any: Value = any.unwrap_or_else(|error| json!({ "error": error }));
    let payload = match std::str::from_utf8(&event.data.payload) {
        Ok(text) => json!(text),
        Err(_) => json!(event.data.payload),
    };
    json!({
        "type": header.r#type,
        "source": header.source,
        "ttl": header.ttl,
        "creation_time": header.creation_time,
        "payload": payload,
        "any": any,
    })
}
