//! Addresses of streams: added, removed and replaced in one write each, and counted.

use alloy_primitives::{Address, U256};

use crate::engine::{Engine, on_every_engine};
use crate::home::Home;
use crate::stream_made::*;

on_every_engine!(
    addresses_are_added_removed_and_replaced,
    a_hundred_thousand_addresses_come_at_once,
    a_stream_that_is_gone_has_no_addresses,
);

fn address(number: u64) -> Address {
    Address::from_word(U256::from(number).into())
}

fn some(numbers: impl IntoIterator<Item = u64>) -> Vec<Address> {
    numbers.into_iter().map(address).collect()
}

async fn addresses_are_added_removed_and_replaced(engine: Engine) {
    let mut home = Home::new(engine).await;
    put_streams(home.store(), &[A, B, Z]).await;
    let highest = Address::repeat_byte(0xff);
    for id in [A, Z] {
        let store = home.store();
        let change =
            async |add, remove| store.change_stream_addresses(id, add, remove).await.unwrap();
        let all = async || store.stream_addresses(id, None, usize::MAX).await.unwrap();
        assert_eq!(change(some([3, 1, 2, 3, 0]), Vec::new()).await, 4);
        assert_eq!(change(some([3, 4]), some([9])).await, 5, "one is known, one was never there");
        assert_eq!(all().await, some(0..=4));
        assert_eq!(change(Vec::new(), some([0, 0, 4])).await, 3);
        // What is in both lists is there afterwards.
        assert_eq!(change(some([7, 2]), some([1, 2, 3])).await, 2);
        assert_eq!(all().await, some([2, 7]));
        assert_eq!(change(vec![highest], Vec::new()).await, 3);
    }
    home.reopen().await;
    let store = home.store();
    for id in [A, Z] {
        let page = async |after, limit| store.stream_addresses(id, after, limit).await.unwrap();
        assert_eq!(store.stream_address_count(id).await.unwrap(), 3);
        assert_eq!(page(None, 2).await, some([2, 7]));
        assert_eq!(page(Some(address(7)), 2).await, [highest]);
        assert_eq!(page(Some(address(3)), 1).await, some([7]), "one that is not there");
        assert_eq!(page(Some(highest), 2).await, some([]));
        assert_eq!(page(None, 0).await, some([]));
    }
    assert_eq!(store.stream_addresses(B, None, 9).await.unwrap(), some([]));
    assert_eq!(store.stream_address_count(B).await.unwrap(), 0);
    assert!(store.check(|_| ()).await.unwrap().holds());
}

async fn a_hundred_thousand_addresses_come_at_once(engine: Engine) {
    const COUNT: u64 = 100_000;
    let mut home = Home::new(engine).await;
    put_streams(home.store(), &[A]).await;
    let store = home.store();
    assert_eq!(store.change_stream_addresses(A, some(0..COUNT), Vec::new()).await.unwrap(), COUNT);
    // Half of them go as the next half comes.
    let changed = store
        .change_stream_addresses(A, some(COUNT / 2..COUNT + COUNT / 2), some(0..COUNT / 2))
        .await;
    assert_eq!(changed.unwrap(), COUNT);
    home.reopen().await;
    let mut found = Vec::new();
    loop {
        let after = found.last().copied();
        let page = home.store().stream_addresses(A, after, 7_001).await.unwrap();
        if page.is_empty() {
            break;
        }
        found.extend(page);
    }
    assert!(found == some(COUNT / 2..COUNT + COUNT / 2), "{} addresses", found.len());
    assert_eq!(home.store().stream_address_count(A).await.unwrap(), COUNT);
}

async fn a_stream_that_is_gone_has_no_addresses(engine: Engine) {
    let home = Home::new(engine).await;
    let change = home.store().change_stream_addresses(A, some([1]), Vec::new()).await;
    assert_eq!(change.unwrap(), 0, "there never was one");
    put_streams(home.store(), &[A]).await;
    assert_eq!(home.store().stream_addresses(A, None, 9).await.unwrap(), some([]));
    home.store().change_stream_addresses(A, some([1, 2]), Vec::new()).await.unwrap();
    assert!(home.store().remove_stream(A).await.unwrap());
    assert_eq!(home.store().stream_address_count(A).await.unwrap(), 0);
    put_streams(home.store(), &[A]).await;
    assert_eq!(home.store().stream_addresses(A, None, 9).await.unwrap(), some([]));
    assert_eq!(home.store().stream_address_count(A).await.unwrap(), 0);
}
