//! Tables whose kind depends on one field: a marker's on `law`, a channel's on `model`.

use crate::remedy::tables_at;
use crate::schema::schema;

/// The fields that the table at a path of names has where `tag` is `old`, and lacks where it is `new`.
pub(super) fn lost(path: &[&str], tag: &str, old: &str, new: &str) -> Vec<String> {
    // Most values that are replaced are quantities: the schema, which is expensive, has nothing to say of them.
    if !is_name(old) || !is_name(new) {
        return Vec::new();
    }
    let schema = schema();
    let mut tables = Vec::new();
    tables_at(schema, schema, path, &mut tables);
    let fields = |kind: &str| {
        let variant = tables.iter().find(|table| table["properties"][tag]["const"] == *kind)?;
        let mut parts = Vec::new();
        tables_at(schema, variant, &[], &mut parts);
        let fields = parts.iter().filter_map(|part| part["properties"].as_object());
        Some(fields.flat_map(|fields| fields.keys().cloned()).collect::<Vec<_>>())
    };
    let (Some(old), Some(new)) = (fields(old), fields(new)) else { return Vec::new() };
    old.into_iter().filter(|field| !new.contains(field)).collect()
}

/// True for text that can name a kind; a quantity begins with a digit.
fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_both_kinds_have_is_not_lost() {
        assert!(lost(&["marker"], "law", "ramp", "none").contains(&"high".to_string()));
        let step = lost(&["ue", "drb", "marker"], "law", "ramp", "step");
        assert!(step.contains(&"high".into()) && !step.contains(&"delay".into()) && !step.contains(&"law".into()));
        assert_eq!(lost(&["ue", "channel"], "model", "pedestrian", "vehicular"), Vec::<String>::new());
        assert!(lost(&["ue", "channel"], "model", "vehicular", "static").contains(&"speed_kmh".to_string()));
        // No kind of this table, and no such table.
        assert_eq!(lost(&["marker"], "law", "ramp", "nothing"), Vec::<String>::new());
        assert_eq!(lost(&["nowhere"], "law", "ramp", "none"), Vec::<String>::new());
    }
}
