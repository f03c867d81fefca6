//! Holds JSON against a schema: the keywords of JSON Schema that ours use.
//!
//! Invariant: a keyword that is not known here fails, so that no part of a schema is passed over, and so does a field that a
//! schema does not list: readers accept those, but we publish all that we write.

use serde_json::Value;

/// Words for people.
const WORDS: [&str; 5] = ["$schema", "title", "description", "$defs", "$comment"];

/// What of `value` does not fit `schema`, each with its place.
pub fn misfits(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    Reader { root: schema, found: &mut found }.check(schema, value, "$");
    found
}

struct Reader<'a> {
    root: &'a Value,
    found: &'a mut Vec<String>,
}

impl Reader<'_> {
    fn check(&mut self, schema: &Value, value: &Value, place: &str) {
        let keywords = schema.as_object().unwrap_or_else(|| panic!("{place}: a schema is an object"));
        for (keyword, wanted) in keywords {
            let fits = match keyword.as_str() {
                word if WORDS.contains(&word) => true,
                "$ref" => {
                    let path = wanted.as_str().unwrap().strip_prefix('#').unwrap();
                    let target = self.root.pointer(path).unwrap_or_else(|| panic!("no {path}"));
                    self.check(target, value, place);
                    true
                }
                "const" => value == wanted,
                "enum" => wanted.as_array().unwrap().contains(value),
                "type" => match wanted {
                    Value::Array(any) => any.iter().any(|one| is(value, one.as_str().unwrap())),
                    one => is(value, one.as_str().unwrap()),
                },
                "minimum" => value.as_f64().is_none_or(|number| number >= wanted.as_f64().unwrap()),
                "minLength" => {
                    value.as_str().is_none_or(|text| text.len() as u64 >= wanted.as_u64().unwrap())
                }
                "minItems" => value.as_array().is_none_or(|all| all.len() as u64 >= wanted.as_u64().unwrap()),
                "required" => {
                    let names = wanted.as_array().unwrap().iter().map(|name| name.as_str().unwrap());
                    value
                        .as_object()
                        .is_none_or(|object| names.into_iter().all(|name| object.contains_key(name)))
                }
                "properties" => {
                    let known = wanted.as_object().unwrap();
                    for (name, schema) in known {
                        if let Some(own) = value.get(name) {
                            self.check(schema, own, &format!("{place}.{name}"));
                        }
                    }
                    value.as_object().is_none_or(|object| object.keys().all(|name| known.contains_key(name)))
                }
                // That is said of all objects here.
                "additionalProperties" => wanted == &Value::Bool(false),
                "items" => {
                    for (at, one) in value.as_array().into_iter().flatten().enumerate() {
                        self.check(wanted, one, &format!("{place}[{at}]"));
                    }
                    true
                }
                "anyOf" => wanted.as_array().unwrap().iter().any(|one| {
                    let mut found = Vec::new();
                    Reader { root: self.root, found: &mut found }.check(one, value, place);
                    found.is_empty()
                }),
                other => panic!("the keyword `{other}` is not known"),
            };
            if !fits {
                self.found.push(format!("{place}: {keyword} {wanted}"));
            }
        }
    }
}

fn is(value: &Value, kind: &str) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "null" => value.is_null(),
        other => panic!("the type `{other}` is not known"),
    }
}

#[test]
fn misfits_are_found() {
    let schema = serde_json::json!({
        "type": "object", "required": ["a"],
        "properties": { "a": { "$ref": "#/$defs/few" }, "b": { "anyOf": [{ "type": "null" }, { "const": 1 }] } },
        "$defs": { "few": { "type": "array", "minItems": 1, "items": { "type": ["string", "integer"], "minimum": 2 } } },
    });
    let count = |value| misfits(&schema, &value).len();
    assert_eq!(count(serde_json::json!({ "a": [2, "x"], "b": null })), 0);
    assert_eq!(count(serde_json::json!({ "a": [1, true] })), 2);
    assert_eq!(count(serde_json::json!({ "b": 2, "c": 0 })), 3);
    assert_eq!(count(serde_json::json!({ "a": [] })), 1);
}
