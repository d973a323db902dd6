//! The document says what the routes are, and nothing else.

use std::collections::BTreeSet;

use axum::routing::get;

use super::*;
use crate::routes::{Route, Routes};
use crate::{admin, data, hosts, streams};

fn entries(part: &str) -> BTreeSet<Route> {
    let part: Value = serde_json::from_str(part).unwrap();
    let methods = |(path, operations): (&String, &Value)| {
        let operations = operations.as_object().unwrap().keys();
        let of = |method: &String| Route { path: path.clone(), method: method.clone().leak() };
        operations.map(of).collect::<Vec<_>>()
    };
    part["paths"].as_object().unwrap().iter().flat_map(methods).collect()
}

fn check(name: &str, routes: &Routes, part: &str) {
    let routes: BTreeSet<Route> = routes.list().iter().cloned().collect();
    let entries = entries(part);
    let missing: Vec<_> = routes.difference(&entries).collect();
    assert!(missing.is_empty(), "{name}: routes without an entry: {missing:?}");
    let surplus: Vec<_> = entries.difference(&routes).collect();
    assert!(surplus.is_empty(), "{name}: entries without a route: {surplus:?}");
}

#[test]
fn every_route_has_an_entry_and_every_entry_a_route() {
    check("data", &data::routes(), DATA);
    check("node RPC", &hosts::node_rpc_routes(), NODE_RPC);
    check("streams", &streams::routes(), STREAMS);
    check("admin", &admin::routes(), ADMIN);
    let document = Document::of(Hosts::ALL, "1");
    let (status, metrics) = (get(hosts::status::status), get(hosts::metrics::metrics));
    check("operators", &hosts::operator_routes(status, metrics, document), OPERATORS);
}

/// Every `$ref` leads somewhere in the document of each host that a listener can have.
#[test]
fn nothing_is_referred_to_that_is_not_there() {
    let one = |data, rpc, streams, admin, console| Hosts { data, rpc, streams, admin, console };
    for served in [
        Hosts::ALL,
        Hosts::NONE,
        one(true, false, false, false, false),
        one(false, true, false, false, false),
        one(false, false, true, false, false),
        one(false, false, false, true, false),
    ] {
        let document = joined(served, "1");
        let mut open = vec![&document];
        while let Some(value) = open.pop() {
            if let Some(target) = value.get("$ref").and_then(Value::as_str) {
                let found = document.pointer(target.trim_start_matches('#'));
                assert!(found.is_some(), "{served:?}: {target}");
            }
            match value {
                Value::Object(fields) => open.extend(fields.values()),
                Value::Array(list) => open.extend(list),
                _ => {}
            }
        }
    }
}

#[test]
fn operations_have_names_of_their_own_and_name_the_parameters_of_their_path() {
    let document = joined(Hosts::ALL, "1");
    let mut names = BTreeSet::new();
    for (path, operations) in document["paths"].as_object().unwrap() {
        for (method, operation) in operations.as_object().unwrap() {
            let name = operation["operationId"].as_str().unwrap();
            assert!(names.insert(name), "{name} twice");
            let empty = Vec::new();
            let parameters = operation["parameters"].as_array().unwrap_or(&empty);
            let named: BTreeSet<&str> = parameters
                .iter()
                .filter(|parameter| parameter["in"] == "path")
                .map(|parameter| parameter["name"].as_str().unwrap())
                .collect();
            let in_path: BTreeSet<&str> = path
                .split('/')
                .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
                .collect();
            assert_eq!(named, in_path, "{method} {path}");
        }
    }
    assert!(names.contains("getWalletTransactions"), "{names:?}");
}

#[test]
fn a_listener_describes_what_it_serves() {
    let only_data = joined(Hosts { data: true, ..Hosts::NONE }, "7.1");
    assert_eq!(only_data["info"]["version"], "7.1");
    let paths = only_data["paths"].as_object().unwrap();
    assert!(paths.contains_key("/api/v2.2/{address}") && paths.contains_key("/status"));
    assert!(!paths.keys().any(|path| path.starts_with("/admin") || path.starts_with("/streams")));
}
