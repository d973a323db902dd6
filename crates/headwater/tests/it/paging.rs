//! Paging holds while the world moves: restarts, new blocks, reorgs.

use testkit::{SimConfig, read, write};

use crate::client::{Client, Row};
use crate::process::Serve;
use crate::world::{CHAIN, Imported, Live, private};

fn hashes(rows: &[Row]) -> Vec<String> {
    rows.iter().map(|row| row.hash.clone()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cursor_holds_across_a_restart() {
    let world = Imported::new(10);
    let address = world.address("exchange");
    let query = format!("chain={CHAIN}");
    let whole = hashes(&world.client.whole_wallet(&address, &query, 500).await);
    let first = world.client.wallet(&address, &format!("{query}&limit=4")).await;
    let cursor = first.next().unwrap().to_owned();
    assert!(world.server.terminate().success());
    let server = private(Serve::of(&world.folder.path().join("data"))).start();
    let second =
        Client::new(server.url()).wallet(&address, &format!("{query}&cursor={cursor}")).await;
    assert_eq!(second.page.to_u64(), 1);
    assert_eq!(second.page_size.to_u64(), 4, "the cursor carries the limit");
    assert_eq!([hashes(&first.result), hashes(&second.result)].concat(), whole[..8]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expired_cursor_is_refused() {
    let world = Imported::with(4, |serve| serve.set("api.cursor_ttl_s", "2"));
    let path = format!("/api/v2.2/{}?chain={CHAIN}&limit=1", world.address("exchange"));
    let cursor = world.client.get(&path).await.page().next().unwrap().to_owned();
    tokio::time::sleep(std::time::Duration::from_millis(3200)).await;
    let refused = world.client.get(&format!("{path}&cursor={cursor}")).await;
    assert_eq!(refused.status, 400);
    assert!(refused.body.contains("cursor has expired"), "{}", refused.body);
    // The page itself was kept meanwhile; its cursor is a fresh one all the same.
    let fresh = world.client.get(&path).await.page().next().unwrap().to_owned();
    assert_eq!(world.client.get(&format!("{path}&cursor={fresh}")).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn new_blocks_neither_repeat_nor_skip_a_row() {
    let config = SimConfig { txs_per_block: 8, wallets: 20, ..SimConfig::seeded(41) };
    let live = Live::start(config, 12, |serve| serve).await;
    let address = live.address("exchange");
    for include in ["", "&include=internal_transactions"] {
        let with_internal = !include.is_empty();
        for order in ["DESC", "ASC"] {
            let query = format!("chain={CHAIN}&order={order}{include}");
            let at_first = live.expected(&address, with_internal);
            let mut rows = Vec::new();
            let mut page = live.client.wallet(&address, &format!("{query}&limit=5")).await;
            loop {
                rows.append(&mut page.result);
                let Some(cursor) = page.next().map(str::to_owned) else { break };
                // A block between any two pages, for as long as that can make a difference.
                if rows.len() < 30 {
                    write(&live.chain).extend(1);
                    live.until_indexed().await;
                }
                page = live.client.wallet(&address, &format!("{query}&cursor={cursor}")).await;
            }
            match order {
                "DESC" => assert_eq!(hashes(&rows), at_first, "{query}"),
                _ => {
                    let mut now = live.expected(&address, with_internal);
                    now.reverse();
                    assert_eq!(hashes(&rows), now, "{query}");
                }
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_reorg_past_the_cursor_the_next_page_is_of_the_new_chain() {
    let config = SimConfig { txs_per_block: 8, wallets: 20, ..SimConfig::seeded(42) };
    let live = Live::start(config, 20, |serve| serve).await;
    let address = live.address("exchange");
    let query = format!("chain={CHAIN}");
    let first = live.client.wallet(&address, &format!("{query}&limit=6")).await;
    let (block, index) = first.result.last().unwrap().place();
    assert!(block > 12, "the page must end in a block that goes away");
    let before = live.expected(&address, false);
    write(&live.chain).reorg(8, 10);
    live.until_indexed().await;
    let mut rows = Vec::new();
    let mut cursor = first.next().map(str::to_owned);
    while let Some(text) = cursor {
        let mut page = live.client.wallet(&address, &format!("{query}&cursor={text}")).await;
        cursor = page.next().map(str::to_owned);
        rows.append(&mut page.result);
    }
    let wallet = read(&live.chain).expected_wallet(address.parse().unwrap());
    let older =
        wallet.direct.iter().filter(|row| (row.block_number, row.tx_index as u64) < (block, index));
    let expected: Vec<String> = older.map(|row| format!("{:#x}", row.hash)).collect();
    assert_eq!(hashes(&rows), expected);
    assert!(!before.ends_with(&expected), "the reorg must have changed what follows");
    // And from the start, nothing of the old chain is left.
    let whole = live.client.whole_wallet(&address, &query, 100).await;
    assert_eq!(hashes(&whole), live.expected(&address, false));
}
