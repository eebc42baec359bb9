//! A check that a JSON value follows a schema (JSON Schema, draft 2020-12).
//!
//! Only the keywords that the schemas in `docs/` use are known; another one is an error, so that no
//! check is left out. The crates that know all of them bring fifty others along.

use serde_json::{Map, Value};

/// Lists the violations of `schema` by `value`, each with the way to it.
pub fn violations(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    Checker { root: schema }.check(schema, value, "$", &mut found);
    found
}

struct Checker<'a> {
    root: &'a Value,
}

impl Checker<'_> {
    fn check(&self, schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
        let rules = match schema {
            Value::Bool(true) => return,
            Value::Object(rules) => rules,
            _ => return found.push(format!("{at}: nothing is allowed by {schema}")),
        };
        for (keyword, rule) in rules {
            let is_kept = match (keyword.as_str(), value) {
                ("$schema" | "$defs" | "title" | "description", _) => true,
                ("$ref", _) => {
                    self.check(self.definition(rule), value, at, found);
                    true
                }
                ("type", _) => has_type(text(rule), value),
                ("const", _) => rule == value,
                ("enum", _) => list(rule).contains(value),
                ("oneOf", _) => {
                    let fits = |schema: &&Value| {
                        let mut found = Vec::new();
                        self.check(schema, value, at, &mut found);
                        found.is_empty()
                    };
                    list(rule).iter().filter(fits).count() == 1
                }
                ("required", Value::Object(fields)) => {
                    list(rule).iter().all(|name| fields.contains_key(text(name)))
                }
                ("properties", Value::Object(fields)) => {
                    for (name, schema) in object(rule) {
                        if let Some(value) = fields.get(name) {
                            self.check(schema, value, &format!("{at}.{name}"), found);
                        }
                    }
                    true
                }
                ("additionalProperties", Value::Object(fields)) => {
                    let known = rules.get("properties").map(object);
                    let others = fields
                        .iter()
                        .filter(|(name, _)| known.is_none_or(|known| !known.contains_key(*name)));
                    for (name, value) in others {
                        self.check(rule, value, &format!("{at}.{name}"), found);
                    }
                    true
                }
                ("minProperties", Value::Object(fields)) => fields.len() as u64 >= count(rule),
                ("items", Value::Array(items)) => {
                    for (index, item) in items.iter().enumerate() {
                        self.check(rule, item, &format!("{at}[{index}]"), found);
                    }
                    true
                }
                ("minItems", Value::Array(items)) => items.len() as u64 >= count(rule),
                ("maxItems", Value::Array(items)) => items.len() as u64 <= count(rule),
                ("uniqueItems", Value::Array(items)) => {
                    (1..items.len()).all(|end| !items[..end].contains(&items[end]))
                }
                ("minLength", Value::String(text)) => text.chars().count() as u64 >= count(rule),
                ("minimum", Value::Number(number)) => number.as_f64() >= rule.as_f64(),
                // These keywords say nothing of values of another type.
                (
                    "required"
                    | "properties"
                    | "additionalProperties"
                    | "minProperties"
                    | "items"
                    | "minItems"
                    | "maxItems"
                    | "uniqueItems"
                    | "minLength"
                    | "minimum",
                    _,
                ) => true,
                _ => panic!("the keyword {keyword} is not known"),
            };
            if !is_kept {
                found.push(format!("{at}: {keyword} {rule} does not hold of {value}"));
            }
        }
    }

    fn definition(&self, reference: &Value) -> &Value {
        let name = text(reference).strip_prefix("#/$defs/").expect("a definition of this schema");
        &self.root["$defs"][name]
    }
}

fn has_type(name: &str, value: &Value) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_u64() || value.is_i64(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        _ => panic!("the type {name} is not known"),
    }
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

fn object(value: &Value) -> &Map<String, Value> {
    value.as_object().expect("an object")
}

fn count(value: &Value) -> u64 {
    value.as_u64().expect("a number")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_wrong_is_found() {
        let schema = json!({
            "type": "object",
            "required": ["a"],
            "properties": {
                "a": { "$ref": "#/$defs/small" },
                "b": { "type": "array", "items": { "enum": ["x", "y"] }, "uniqueItems": true },
            },
            "additionalProperties": false,
            "$defs": { "small": { "oneOf": [{ "const": 1 }, { "type": "string", "minLength": 1 }] } },
        });
        for right in [json!({ "a": 1 }), json!({ "a": "z", "b": ["x", "y"] })] {
            assert_eq!(violations(&schema, &right), Vec::<String>::new());
        }
        for wrong in [
            json!([]),
            json!({ "b": [] }),
            json!({ "a": 2 }),
            json!({ "a": "" }),
            json!({ "a": 1, "b": ["z"] }),
            json!({ "a": 1, "b": ["x", "x"] }),
            json!({ "a": 1, "c": 1 }),
        ] {
            assert!(!violations(&schema, &wrong).is_empty(), "{wrong}");
        }
    }
}
