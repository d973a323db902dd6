//! `docs/proof.md` against what verification does: every field of every object is changed in turn.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::chain::{Chain, Verification};
use model::proof::Level;
use model::raw::{AccessListItem, Authorization, Header, Log, Receipt, Tx, Withdrawal};
use serde_json::Value;
use testkit::lies::{BlockLie, Edit, Object};

use crate::cases::{Case, Outcome, changed, outcome, simulated};

const FAMILIES: [&str; 3] = ["ethereum", "op_stack", "other"];

/// Title in the page, the fields of the struct, and the object to change.
const OBJECTS: [(&str, &[&str], Object); 7] = [
    ("Block", Header::FIELD_NAMES, Object::Header),
    ("Withdrawal", Withdrawal::FIELD_NAMES, Object::Withdrawal),
    ("Transaction", Tx::FIELD_NAMES, Object::Tx(Some(2))),
    ("Access list item", AccessListItem::FIELD_NAMES, Object::AccessListItem),
    ("Authorization", Authorization::FIELD_NAMES, Object::Authorization),
    ("Receipt", Receipt::FIELD_NAMES, Object::Receipt(Some(2))),
    ("Log", Log::FIELD_NAMES, Object::Log),
];

/// Title → field → the word of each family.
type Page = BTreeMap<String, BTreeMap<String, [String; 3]>>;

fn page() -> Page {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/proof.md");
    let text = std::fs::read_to_string(path).unwrap();
    let mut page = Page::new();
    let mut title = String::new();
    for line in text.lines() {
        if let Some(next) = line.strip_prefix("## ") {
            title = next.to_owned();
        }
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        if let ["", field, a, b, c, _note, ""] = cells.as_slice()
            && !field.starts_with('-')
            && *field != "field"
        {
            let words = [a, b, c].map(|word| word.to_string());
            let before = page.entry(title.clone()).or_default().insert(field.to_string(), words);
            assert!(before.is_none(), "{title}: {field} has two rows");
        }
    }
    page
}

/// Where the field is at home: the type of transaction that has it.
fn home(object: Object, field: &str) -> Object {
    match (object, field) {
        (Object::Tx(_), "maxFeePerBlobGas" | "blobVersionedHashes") => Object::Tx(Some(3)),
        (Object::Tx(_), "authorizationList") => Object::Tx(Some(4)),
        (Object::Tx(_), "sourceHash" | "mint" | "isSystemTx") => Object::Tx(Some(0x7e)),
        (Object::Receipt(_), "blobGasUsed" | "blobGasPrice") => Object::Receipt(Some(3)),
        (Object::Receipt(_), "depositNonce" | "depositReceiptVersion") => {
            Object::Receipt(Some(0x7e))
        }
        (Object::Receipt(_), "to") => Object::CallReceipt,
        (Object::Receipt(_), "contractAddress") => Object::CreationReceipt,
        (Object::Receipt(_), "root") => Object::Receipt(Some(0)),
        _ => object,
    }
}

/// Changes of a field that is there; of which each block takes those that fit.
const CHANGES: [Edit; 5] = [
    Edit::Flip,
    Edit::DropFirst,
    Edit::Replace(r#"["0x5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a"]"#),
    Edit::Replace(r#""0x5a""#),
    Edit::Replace("true"),
];

/// Values for a field that is not there.
const ADDITIONS: [Edit; 4] = [
    Edit::Add(r#""0x5""#),
    Edit::Add(r#""0x5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a""#),
    Edit::Add("true"),
    Edit::Add(r#"[{"index":"0x1","validatorIndex":"0x2","amount":"0x3"}]"#),
];

/// Whether the changed record is as good as the honest one.
fn is_believed(record: &Value, chain: &Chain) -> bool {
    matches!(outcome(record, chain), Outcome::Stored(proof) if proof.level() == Level::Verified)
}

/// Of all changes that some block of these cases takes: how many there are and how many are believed.
fn tried(
    cases: &[&Case],
    chain: &Arc<Chain>,
    object: Object,
    field: &'static str,
) -> (usize, usize) {
    let (mut count, mut believed) = (0, 0);
    for edit in CHANGES.into_iter().chain(ADDITIONS) {
        let lie = BlockLie { object, field, edit };
        let record = cases.iter().flat_map(|case| &case.records).find_map(|it| changed(it, &lie));
        let Some(record) = record else { continue };
        count += 1;
        believed += usize::from(is_believed(&record, chain));
    }
    (count, believed)
}

#[test]
fn the_page_has_every_field_and_its_words_are_true() {
    let page = page();
    let all = simulated();
    let named = |part: &str| all.iter().find(|case| case.name.contains(part)).unwrap();
    let (newest, oldest, op) = (named("Prague"), named("Frontier"), named("OP stack"));
    let lenient = Chain { verification: Verification::Lenient, ..Chain::clone(&newest.chain) };
    let families = [
        (newest.chain.clone(), vec![newest, oldest]),
        (op.chain.clone(), vec![op]),
        (Arc::new(lenient), vec![newest, oldest]),
    ];
    for (title, names, object) in OBJECTS {
        let table = page.get(title).unwrap_or_else(|| panic!("no table of {title}"));
        let mut expected: Vec<&str> = names.to_vec();
        expected.sort_unstable();
        assert_eq!(table.keys().collect::<Vec<_>>(), expected, "{title}");
        for field in names {
            for ((chain, cases), (word, family)) in
                families.iter().zip(table[*field].iter().zip(FAMILIES))
            {
                let own = if word == "not there" { object } else { home(object, field) };
                let (count, believed) = tried(cases, chain, own, field);
                let what =
                    format!("{title} {field} of {family}, \"{word}\": {believed} of {count}");
                match word.as_str() {
                    "node's word" => assert!(count > 0 && believed > 0, "{what}"),
                    "header hash" | "root" | "recovery" | "derived" => {
                        assert!(count > 0 && believed == 0, "{what}");
                    }
                    // Objects that are not there have nothing to change.
                    "not there" => assert_eq!(believed, 0, "{what}"),
                    other => panic!("{title} {field}: \"{other}\" is no word of the page"),
                }
            }
        }
    }
}
