//! What triggers answered for one item.

use serde_json::Value;

/// Names and values, by the number of the trigger.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TriggerResults(Vec<(usize, Vec<(String, Value)>)>);

impl TriggerResults {
    /// In whatever order answers come; they stand in the order of the triggers.
    pub(crate) fn set(&mut self, rule: usize, outputs: Result<Vec<(String, Value)>, String>) {
        let outputs =
            outputs.unwrap_or_else(|message| vec![("error".to_owned(), Value::String(message))]);
        match self.0.binary_search_by_key(&rule, |(number, _)| *number) {
            Ok(place) => {
                if let Some(slot) = self.0.get_mut(place) {
                    slot.1 = outputs;
                }
            }
            Err(place) => self.0.insert(place, (rule, outputs)),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn outputs(&self) -> impl Iterator<Item = &(String, Value)> {
        self.0.iter().flat_map(|(_, outputs)| outputs)
    }
}
