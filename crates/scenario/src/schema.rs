//! JSON schema of the scenario language: what the fields' declarations say, and what several fields have to agree on.

use std::sync::LazyLock;

use serde_json::{Value, json};
use tidemark_core::FlowId;
use tidemark_marker::{Characteristics, LawConfig};
use tidemark_senders::app::ConstantConfig;
use tidemark_senders::media::VideoConfig;
use tidemark_senders::{AppConfig, SenderConfig, connect};

use crate::Scenario;

/// Schema, which is made when it is first needed: a run without an error rarely needs it.
pub(super) fn schema() -> &'static Value {
    static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
        let mut schema = serde_json::to_value(schemars::schema_for!(Scenario)).unwrap_or_default();
        for (place, rule) in rules() {
            let table = schema.pointer_mut(place).and_then(Value::as_object_mut);
            let Value::Object(rule) = rule else { continue };
            table.unwrap_or_else(|| panic!("{place} is in the schema")).extend(rule);
        }
        schema
    });
    &SCHEMA
}

/// Rules of the checks beyond one field's bounds, each with its place. `if` and `not` keep them apart from the fields, which are looked up
/// in `anyOf`, `oneOf` and `allOf`.
fn rules() -> Vec<(&'static str, Value)> {
    let standardised = |is_gbr: fn(&Characteristics) -> bool| -> Vec<u8> {
        (1..=u8::MAX).filter(|five_qi| Characteristics::of(*five_qi).is_some_and(is_gbr)).collect()
    };
    let (all, guaranteed) = (standardised(|_| true), standardised(Characteristics::is_gbr));
    let reported = LawConfig::names(|law| law.marks && law.marks_reported);
    let uplink_marker = json!({
        "if": { "type": "object" },
        "then": { "required": ["law"], "not": { "properties": { "law": { "not": { "enum": reported } } } } }
    });
    vec![
        ("", json!({ "not": { "properties": { "ue": { "maxItems": 0 }, "flow": { "maxItems": 0 } } } })),
        ("/properties/name", json!({ "pattern": "^[A-Za-z0-9._-]+$" })),
        ("/$defs/CellConfig", json!({ "not": { "required": ["prbs", "bandwidth_mhz"] } })),
        ("/$defs/CellConfig/properties/tdd", json!({ "pattern": "^[DSU]+$" })),
        ("/$defs/MarkerConfig", json!({ "unevaluatedProperties": false })),
        ("/$defs/DrbConfig", json!({ "required": ["qos_flow"] })),
        ("/$defs/DrbConfig/properties/qos_flow", json!({ "minItems": 1 })),
        ("/$defs/DrbConfig/properties/uplink_marker", uplink_marker.clone()),
        ("/$defs/Ue/properties/uplink_marker", uplink_marker),
        ("/$defs/Ue/properties/five_qi", json!({ "enum": standardised(|row| !row.is_gbr()) })),
        ("/$defs/QosFlowConfig/properties/five_qi", json!({ "enum": all })),
        (
            "/$defs/QosFlowConfig",
            json!({
                "if": { "properties": { "five_qi": { "enum": guaranteed } }, "required": ["five_qi"] },
                "then": { "required": ["gbr"] },
                "else": { "not": { "required": ["gbr"] } }
            }),
        ),
        ("/$defs/PacketFilter/properties/dscp/items", json!({ "maximum": 63 })),
        ("/$defs/Flow/properties/remote_address", json!({ "pattern": r"^[0-9]{1,3}(\.[0-9]{1,3}){3}$" })),
        ("/$defs/Flow", carried()),
    ]
}

/// Rule that senders for frames carry frames, and the others none; a flow without `app` is a bulk transfer, and without `sender` Prague's.
fn carried() -> Value {
    let carries = |sender: &SenderConfig, app: AppConfig| connect(sender, &app, FlowId(0), 0).is_ok();
    let names = |wanted: fn(&dyn Fn(AppConfig) -> bool) -> bool| -> Vec<&'static str> {
        let senders = SenderConfig::all().into_iter().filter(|sender| wanted(&|app| carries(sender, app)));
        senders.map(|sender| sender.name()).collect()
    };
    let of_frames = names(|carries| !carries(AppConfig::Constant(ConstantConfig::default())));
    let of_streams = names(|carries| !carries(AppConfig::Video(VideoConfig::default())));
    let sent_by = |names: Vec<&str>| {
        let sender = json!({ "properties": { "controller": { "enum": names } }, "required": ["controller"] });
        json!({ "properties": { "sender": sender }, "required": ["sender"] })
    };
    let frames = json!({ "properties": { "app": { "properties": { "app": { "enum": ["video", "xr"] } }, "required": ["app"] } }, "required": ["app"] });
    json!({
        "if": sent_by(of_frames),
        "then": frames,
        "else": { "if": sent_by(of_streams), "then": { "not": frames } }
    })
}
