//! What a cursor must survive, and what must not get through.

use proptest::prelude::*;

use alloy_primitives::{Address, keccak256};
use model::chain::ChainId;
use model::facts::Market;

use super::{Cursor, CursorError, CursorKey, PageQuestion, Position, QuestionDigest, Rows};
use crate::date::UnixMillis;
use crate::params::{BlockRange, RangeEnd};

const NOW: u64 = 1_709_287_200;
const TTL: u64 = 86_400;

fn key() -> CursorKey {
    CursorKey::new([7; 32])
}

fn cursor() -> Cursor {
    let position = Position { block: 19_337_000, index: 42, sub: 3 };
    Cursor { position, limit: 100, page: 2, issued_at: NOW }
}

fn question(address: &str) -> PageQuestion {
    PageQuestion {
        chain: ChainId(1),
        address: Address::from_word(keccak256(address)),
        range: BlockRange { from: RangeEnd::Block(7), to: RangeEnd::Date(UnixMillis(-5)) },
        rows: Rows::WalletTransactions { with_internal: true, oldest_first: false },
    }
}

#[test]
fn a_sealed_cursor_opens_to_itself() {
    let text = key().seal(&cursor(), &question("a"));
    assert_eq!(key().open(&text, NOW, TTL), Ok((cursor(), question("a"))));
    assert!(text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_'));
    assert_eq!(text.len(), 130);
}

/// Cursors outlive a release, so the bytes of version 3 must not drift.
/// Expected text computed with Python's hmac and base64.
#[test]
fn version_three_is_written_the_same_for_ever() {
    let question = PageQuestion { address: Address::repeat_byte(0xab), ..question("a") };
    assert_eq!(key().seal(&cursor(), &question), VECTOR);
}
const VECTOR: &str = "AwAAAAABJw8oAAAAKgAAAAMAAABkAAAAAgAAAABl4acgAAAAAAAAAAGrq6urq6urq6urq6urq6urq6urqwEAAAAAAAAABwL_________-wEBxRasFqbVidxx4PauuUJKRQ";

#[test]
fn any_altered_character_is_refused() {
    let text = key().seal(&cursor(), &question("a"));
    for index in 0..text.len() {
        for other in ['A', 'b', '9', '-', '=', '+', ' '] {
            let mut letters: Vec<char> = text.chars().collect();
            if letters[index] == other {
                continue;
            }
            letters[index] = other;
            let altered: String = letters.into_iter().collect();
            let opened = key().open(&altered, NOW, TTL);
            assert!(
                matches!(opened, Err(CursorError::Altered | CursorError::Malformed)),
                "{index} {other}: {opened:?}"
            );
        }
    }
}

#[test]
fn cut_or_lengthened_text_is_malformed() {
    let text = key().seal(&cursor(), &question("a"));
    let longer = format!("{text}A");
    let huge = "A".repeat(1_000_000);
    for wrong in ["", "1", &text[1..], &text[..129], &longer, &huge, "ü"] {
        assert_eq!(key().open(wrong, NOW, TTL), Err(CursorError::Malformed));
    }
}

#[test]
fn a_cursor_tells_the_whole_question_it_was_written_for() {
    let plain = question("a");
    let open = BlockRange { from: RangeEnd::Open, to: RangeEnd::Block(u64::MAX) };
    let mut all = vec![
        plain,
        question("b"),
        PageQuestion { chain: ChainId(u64::MAX), ..plain },
        PageQuestion { range: open, ..plain },
    ];
    for (with_internal, oldest_first) in [(true, true), (false, true), (false, false)] {
        let rows = Rows::WalletTransactions { with_internal, oldest_first };
        all.push(PageQuestion { rows, ..plain });
    }
    for market in Market::ALL.into_iter().map(Some).chain([None]) {
        all.push(PageQuestion { rows: Rows::NftTrades { market }, ..plain });
    }
    for question in all {
        let text = key().seal(&cursor(), &question);
        assert_eq!(key().open(&text, NOW, TTL), Ok((cursor(), question)));
    }
}

#[test]
fn another_key_makes_it_altered() {
    let text = key().seal(&cursor(), &question("a"));
    let other = CursorKey::new([8; 32]);
    assert_eq!(other.open(&text, NOW, TTL), Err(CursorError::Altered));
}

#[test]
fn servers_with_one_secret_open_each_others_cursors() {
    let text = CursorKey::of_secret("what both were told").seal(&cursor(), &question("a"));
    let opened = CursorKey::of_secret("what both were told").open(&text, NOW, TTL);
    assert_eq!(opened, Ok((cursor(), question("a"))));
    let other = CursorKey::of_secret("something else").open(&text, NOW, TTL);
    assert_eq!(other, Err(CursorError::Altered));
}

#[test]
fn it_expires_after_its_time_and_forgives_clocks_behind() {
    let text = key().seal(&cursor(), &question("a"));
    let open_at = |now| key().open(&text, now, TTL).map(|(cursor, _)| cursor);
    assert_eq!(open_at(NOW + TTL), Ok(cursor()));
    assert_eq!(open_at(NOW + TTL + 1), Err(CursorError::Expired));
    assert_eq!(open_at(u64::MAX), Err(CursorError::Expired));
    assert_eq!(open_at(NOW - 5), Ok(cursor()));
    assert_eq!(open_at(0), Ok(cursor()));
}

#[test]
fn questions_differ_where_their_fields_differ() {
    let build = QuestionDigest::builder;
    let all = [
        build().finish(),
        build().field("a", "").finish(),
        build().field("", "a").finish(),
        build().field("a", "bc").finish(),
        build().field("ab", "c").finish(),
        build().field("a", "b").field("c", "d").finish(),
        build().field("c", "d").field("a", "b").finish(),
        build().number_if("from", Some(0)).finish(),
        build().number_if("to", Some(0)).finish(),
    ];
    for (index, one) in all.iter().enumerate() {
        assert!(all.iter().skip(index + 1).all(|other| other != one), "{index}");
    }
    assert_eq!(build().number_if("from", None).finish(), build().finish());
}

#[test]
fn the_key_is_not_shown() {
    assert_eq!(format!("{:?}", key()), "CursorKey(hidden)");
}

proptest! {
    #[test]
    fn every_cursor_round_trips(
        block: u64, index: u32, sub: u32, limit: u32, page: u32, issued_at: u64, secret: [u8; 32],
        address: String,
    ) {
        let position = Position { block, index, sub };
        let cursor = Cursor { position, limit, page, issued_at };
        let key = CursorKey::new(secret);
        let text = key.seal(&cursor, &question(&address));
        prop_assert_eq!(key.open(&text, issued_at, 0), Ok((cursor, question(&address))));
    }

    #[test]
    fn no_text_opens_or_panics(text in "\\PC{0,100}") {
        prop_assert!(key().open(&text, NOW, TTL).is_err());
    }

    #[test]
    fn no_text_of_the_right_length_opens(text in "[A-Za-z0-9_-]{129}[AQgw]") {
        let version_three = format!("Aw{}", &text[2..]);
        prop_assert!(key().open(&text, NOW, TTL).is_err());
        prop_assert_eq!(key().open(&version_three, NOW, TTL), Err(CursorError::Altered));
    }
}
