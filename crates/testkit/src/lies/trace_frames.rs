//! The frames of a block's traces, in whichever of the two dialects they are written.

use serde_json::{Value, json};

pub(super) struct Frames<'a> {
    traces: &'a mut Value,
    is_parity: bool,
    places: Vec<Place>,
}

/// Where a frame stands in the answer, and where the frame stands that made it.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pointer: String,
    pub parent: Option<String>,
}

impl<'a> Frames<'a> {
    pub fn of(traces: &'a mut Value) -> Self {
        let list = traces.as_array().map(Vec::as_slice).unwrap_or_default();
        let is_parity = list.first().is_some_and(|first| first.get("action").is_some());
        let mut places = Vec::new();
        if is_parity {
            for (i, row) in list.iter().enumerate() {
                let parent = parent_of(list, row).map(|i| format!("/{i}"));
                places.push(Place { pointer: format!("/{i}"), parent });
            }
        } else {
            for (i, entry) in list.iter().enumerate() {
                if let Some(root) = entry.get("result") {
                    collect(
                        root,
                        Place { pointer: format!("/{i}/result"), parent: None },
                        &mut places,
                    );
                }
            }
        }
        Frames { traces, is_parity, places }
    }

    pub fn find(&self, is_it: impl Fn(&Self, &Place) -> bool) -> Option<Place> {
        self.places.iter().find(|place| is_it(self, place)).cloned()
    }

    /// As the EVM calls it.
    pub fn kind(&self, place: &Place) -> String {
        self.kind_at(&place.pointer)
    }

    pub fn parent_kind(&self, place: &Place) -> Option<String> {
        Some(self.kind_at(place.parent.as_deref()?))
    }

    fn kind_at(&self, pointer: &str) -> String {
        let text = |path: &str| {
            let found = self.traces.pointer(&format!("{pointer}{path}"));
            found.and_then(Value::as_str).unwrap_or_default().to_uppercase()
        };
        match text("/type").as_str() {
            "CALL" if self.is_parity => text("/action/callType"),
            "CREATE" if self.is_parity => text("/action/creationMethod"),
            "SUICIDE" => "SELFDESTRUCT".to_owned(),
            other => other.to_owned(),
        }
    }

    pub fn failed(&self, place: &Place) -> bool {
        self.get(place, "/error").is_some()
    }

    pub fn has_calls(&self, place: &Place) -> bool {
        self.places.iter().any(|other| other.parent.as_ref() == Some(&place.pointer))
    }

    pub fn to(&self, place: &Place) -> String {
        self.text(place, if self.is_parity { "/action/to" } else { "/to" })
    }

    pub fn input(&self, place: &Place) -> String {
        self.text(place, if self.is_parity { "/action/input" } else { "/input" })
    }

    pub fn set_input(&mut self, place: &Place, input: &str) {
        self.set(place, "input", json!(input));
    }

    /// A kind of call.
    pub fn set_kind(&mut self, place: &Place, kind: &str) {
        if self.is_parity {
            self.put(place, "/action", "callType", json!(kind.to_lowercase()));
        } else {
            self.put(place, "", "type", json!(kind));
        }
    }

    /// What a creation made.
    pub fn set_made(&mut self, place: &Place, address: Value) {
        if self.is_parity {
            self.put(place, "/result", "address", address);
        } else {
            self.put(place, "", "to", address);
        }
    }

    pub fn set(&mut self, place: &Place, field: &str, value: Value) {
        match (self.is_parity, field) {
            (false, _) => self.put(place, "", field, value),
            (true, "gasUsed") => self.put(place, "/result", field, value),
            (true, _) => self.put(place, "/action", field, value),
        }
    }

    /// Puts so many calls below the frame, each in the one before it.
    pub fn nest(&mut self, place: &Place, count: usize) {
        let actor = self.to(place);
        let actor = if actor.is_empty() { self.text(place, "/action/address") } else { actor };
        if self.is_parity {
            self.nest_rows(place, count, &actor)
        } else {
            self.nest_calls(place, count, &actor)
        }
    }

    fn nest_calls(&mut self, place: &Place, count: usize, actor: &str) {
        let call = json!({
            "type": "CALL", "from": actor, "to": actor, "value": "0x0", "gas": "0x0", "gasUsed": "0x0", "input": "0x",
        });
        let mut inner = call.clone();
        for _ in 1..count {
            let mut outer = call.clone();
            if let Some(fields) = outer.as_object_mut() {
                fields.insert("calls".into(), json!([inner]));
            }
            inner = outer;
        }
        self.put(place, "", "calls", json!([inner]));
    }

    fn nest_rows(&mut self, place: &Place, count: usize, actor: &str) {
        let Some(above) = self.traces.pointer(&place.pointer).cloned() else { return };
        let mut path = address(&above);
        self.put(place, "", "subtraces", json!(1));
        for i in 1..=count {
            path.push(json!(0));
            let mut row = above.clone();
            let Some(fields) = row.as_object_mut() else { return };
            fields.remove("error");
            fields.insert("type".into(), json!("call"));
            let action = json!({ "callType": "call", "from": actor, "to": actor, "value": "0x0", "gas": "0x0", "input": "0x" });
            fields.insert("action".into(), action);
            fields.insert("result".into(), json!({ "gasUsed": "0x0", "output": "0x" }));
            fields.insert("traceAddress".into(), json!(path));
            fields.insert("subtraces".into(), json!(u8::from(i < count)));
            self.traces.as_array_mut().into_iter().for_each(|list| list.push(row.clone()));
        }
    }

    fn get(&self, place: &Place, path: &str) -> Option<&Value> {
        self.traces.pointer(&format!("{}{path}", place.pointer))
    }

    fn text(&self, place: &Place, path: &str) -> String {
        self.get(place, path).and_then(Value::as_str).unwrap_or_default().to_owned()
    }

    fn put(&mut self, place: &Place, path: &str, field: &str, value: Value) {
        let object = self.traces.pointer_mut(&format!("{}{path}", place.pointer));
        if let Some(fields) = object.and_then(Value::as_object_mut) {
            fields.insert(field.to_owned(), value);
        }
    }
}

fn collect(frame: &Value, place: Place, places: &mut Vec<Place>) {
    let pointer = place.pointer.clone();
    places.push(place);
    let calls = frame.get("calls").and_then(Value::as_array);
    for (i, call) in calls.into_iter().flatten().enumerate() {
        let place =
            Place { pointer: format!("{pointer}/calls/{i}"), parent: Some(pointer.clone()) };
        collect(call, place, places);
    }
}

fn address(row: &Value) -> Vec<Value> {
    row.get("traceAddress").and_then(Value::as_array).cloned().unwrap_or_default()
}

/// The row that made this one.
fn parent_of(rows: &[Value], row: &Value) -> Option<usize> {
    let mut above = address(row);
    above.pop()?;
    let is_it = |other: &Value| {
        other.get("transactionHash") == row.get("transactionHash") && address(other) == above
    };
    rows.iter().position(is_it)
}
