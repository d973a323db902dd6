//! What a cursor must survive, and what must not get through.

use proptest::prelude::*;

use super::{Cursor, CursorError, CursorKey, Position, QuestionDigest};

const NOW: u64 = 1_709_287_200;
const TTL: u64 = 86_400;

fn key() -> CursorKey {
    CursorKey::new([7; 32])
}

fn cursor() -> Cursor {
    let position = Position { block: 19_337_000, index: 42, sub: 3 };
    Cursor { position, limit: 100, page: 2, issued_at: NOW }
}

fn question(address: &str) -> QuestionDigest {
    QuestionDigest::builder()
        .field("operation", "getWalletTransactions")
        .number("chain", 1)
        .field("address", address)
        .finish()
}

#[test]
fn a_sealed_cursor_opens_to_itself() {
    let text = key().seal(&cursor(), &question("a"));
    assert_eq!(key().open(&text, &question("a"), NOW, TTL), Ok(cursor()));
    assert!(text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_'));
    assert_eq!(text.len(), 87);
}

/// Cursors outlive a release, so the bytes of version 1 must not drift.
/// Expected text computed with Python's hashlib, hmac and base64.
#[test]
fn version_one_is_written_the_same_for_ever() {
    assert_eq!(key().seal(&cursor(), &question("a")), VECTOR);
}
const VECTOR: &str =
    "AQAAAAABJw8oAAAAKgAAAAMAAABkAAAAAgAAAABl4acggcEzvdX-l-hMTHNvtXmBB-8twOy8MnnCdQVq-Nfg3DU";

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
            let opened = key().open(&altered, &question("a"), NOW, TTL);
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
    for wrong in ["", "1", &text[1..], &text[..86], &longer, &huge, "ü"] {
        assert_eq!(key().open(wrong, &question("a"), NOW, TTL), Err(CursorError::Malformed));
    }
}

#[test]
fn another_question_makes_it_foreign_even_when_expired() {
    let text = key().seal(&cursor(), &question("a"));
    assert_eq!(key().open(&text, &question("b"), NOW, TTL), Err(CursorError::Foreign));
    assert_eq!(key().open(&text, &question("b"), u64::MAX, TTL), Err(CursorError::Foreign));
}

#[test]
fn another_key_makes_it_altered() {
    let text = key().seal(&cursor(), &question("a"));
    let other = CursorKey::new([8; 32]);
    assert_eq!(other.open(&text, &question("a"), NOW, TTL), Err(CursorError::Altered));
    assert_eq!(other.open(&text, &question("b"), NOW, TTL), Err(CursorError::Altered));
}

#[test]
fn it_expires_after_its_time_and_forgives_clocks_behind() {
    let text = key().seal(&cursor(), &question("a"));
    let open_at = |now| key().open(&text, &question("a"), now, TTL);
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
        prop_assert_eq!(key.open(&text, &question(&address), issued_at, 0), Ok(cursor));
    }

    #[test]
    fn no_text_opens_or_panics(text in "\\PC{0,100}") {
        prop_assert!(key().open(&text, &question("a"), NOW, TTL).is_err());
    }

    #[test]
    fn no_text_of_the_right_length_opens(text in "[A-Za-z0-9_-]{86}[AEIMQUYcgkosw048]") {
        let version_one = format!("AQ{}", &text[2..]);
        prop_assert!(key().open(&text, &question("a"), NOW, TTL).is_err());
        prop_assert_eq!(
            key().open(&version_one, &question("a"), NOW, TTL),
            Err(CursorError::Altered)
        );
    }
}
