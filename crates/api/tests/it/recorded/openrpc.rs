//! The interface as its authors describe it: whether a result has the form that a method's description asks for.

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;

use boon::{Compiler, SchemaIndex, Schemas};
use flate2::read::GzDecoder;
use serde_json::Value;

const NAME: &str = "http://localhost/openrpc.json";

pub struct OpenRpc {
    schemas: Schemas,
    results: HashMap<String, SchemaIndex>,
}

impl OpenRpc {
    pub fn read(file: &Path) -> Self {
        let mut text = String::new();
        GzDecoder::new(std::fs::File::open(file).unwrap()).read_to_string(&mut text).unwrap();
        let description: Value = serde_json::from_str(&text).unwrap();
        let methods = description["methods"].as_array().unwrap().clone();
        let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
        compiler.add_resource(NAME, description).unwrap();
        let results = methods.iter().enumerate().map(|(at, method)| {
            let place = format!("{NAME}#/methods/{at}/result/schema");
            let index = compiler.compile(&place, &mut schemas).unwrap();
            (method["name"].as_str().unwrap().to_owned(), index)
        });
        OpenRpc { results: results.collect(), schemas }
    }

    /// Whether a result has its form; none where the method is not described.
    pub fn describes(&self, method: &str, result: &Value) -> Option<bool> {
        let index = *self.results.get(method)?;
        Some(self.schemas.validate(result, index).is_ok())
    }
}
