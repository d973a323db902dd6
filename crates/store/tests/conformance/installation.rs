//! What an installation keeps for itself: secrets, API keys, token names, sizes; and what is left after
//! opening again.

use alloy_primitives::Address;
use model::token::{Source, Token};
use store::{ApiKey, Role};

use crate::chain::*;
use crate::engine::{Engine, on_every_engine};
use crate::home::Home;

on_every_engine!(
    secrets_are_made_once_and_kept,
    what_was_committed_is_there_after_opening_again,
    names_of_tokens_are_kept_and_are_no_part_of_the_digest,
    keys_are_kept_by_their_hash_and_gone_by_their_id,
    compacting_changes_no_answer,
);

async fn secrets_are_made_once_and_kept(engine: Engine) {
    let mut home = Home::new(engine).await;
    assert_eq!(home.store().secret("cursor", || [7; 32]).await.unwrap(), [7; 32]);
    assert_eq!(home.store().secret("other", || [8; 32]).await.unwrap(), [8; 32]);
    home.reopen().await;
    let known = home.store().secret("cursor", || panic!("it is known")).await.unwrap();
    assert_eq!(known, [7; 32]);
}

async fn what_was_committed_is_there_after_opening_again(engine: Engine) {
    let chain = chain(16, 10);
    let mut home = Home::indexed(engine, &chain).await;
    let before = home.digest().await;
    home.reopen().await;
    assert_eq!(home.digest().await, before);
    assert_eq!(home.seq().await, 11);
    let tables = home.store().table_sizes().await;
    assert!(tables.iter().any(|table| table.rows > 0));
    assert!(home.store().disk_bytes() > 0);
}

async fn names_of_tokens_are_kept_and_are_no_part_of_the_digest(engine: Engine) {
    let mut home = Home::new(engine).await;
    let before = home.digest().await;
    let (address, other) = (Address::repeat_byte(1), Address::repeat_byte(2));
    let name = Some("Münze".to_owned());
    let token = Token { name, symbol: None, decimals: Some(7), source: Source::Contract };
    let unnamed = Token { name: None, ..token.clone() };
    home.store().put_token(CHAIN, address, &unnamed).await.unwrap();
    home.store().put_token(CHAIN, address, &token).await.unwrap();
    assert_eq!(home.digest().await, before);
    home.store().flush().await.unwrap();
    home.reopen().await;
    let view = home.view().await;
    assert_eq!(view.token(CHAIN, address).await.unwrap(), Some(token));
    assert_eq!(view.token(CHAIN, other).await.unwrap(), None);
    assert_eq!(view.token(model::chain::ChainId(1), address).await.unwrap(), None);
}

fn key(id: &str, byte: u8, created_at: u64) -> ApiKey {
    ApiKey {
        id: id.to_owned(),
        hash: [byte; 32],
        tenant: "ours".to_owned(),
        name: format!("key of {id}"),
        role: if byte == 1 { Role::Admin } else { Role::Tenant },
        created_at,
        units_per_second: (byte == 2).then_some(0),
        methods: store::MethodRules::default(),
    }
}

async fn keys_are_kept_by_their_hash_and_gone_by_their_id(engine: Engine) {
    let mut home = Home::new(engine).await;
    assert_eq!(home.store().api_keys().await.unwrap(), []);
    let [one, two, three] = [key("one", 1, 9), key("two", 2, 5), key("three", 3, 9)];
    for key in [&one, &two, &three] {
        home.store().put_api_key(key).await.unwrap();
    }
    home.reopen().await;
    // Oldest first; of one second by id.
    let all = home.store().api_keys().await.unwrap();
    assert_eq!(all, [two.clone(), one.clone(), three.clone()]);
    let renamed = ApiKey { name: "another".to_owned(), ..two.clone() };
    home.store().put_api_key(&renamed).await.unwrap();
    assert_eq!(home.store().api_keys().await.unwrap()[0], renamed, "the same key, written again");
    assert_eq!(home.store().remove_api_key("nobody").await.unwrap(), None);
    assert_eq!(home.store().remove_api_key("one").await.unwrap(), Some(one));
    assert_eq!(home.store().remove_api_key("one").await.unwrap(), None);
    home.reopen().await;
    assert_eq!(home.store().api_keys().await.unwrap(), [renamed, three]);
}

async fn compacting_changes_no_answer(engine: Engine) {
    let chain = small_chain(18, 6);
    let mut home = Home::indexed(engine, &chain).await;
    let before = home.digest().await;
    home.store().compact().await.unwrap();
    assert_eq!(home.digest().await, before);
    home.reopen().await;
    assert_eq!(home.digest().await, before);
}
