//! Refusals that no configuration of the binary brings about today.

use crate::test_server::TestServer;

#[test]
fn a_chain_is_refused_in_three_ways_that_can_be_told_apart() {
    let server = TestServer::new();
    let ask = |chain: &str| server.get(&format!("/api/v2.2/{}?chain={chain}", server.wallet));
    for (chain, says) in [
        ("nowhere", "chain with value 'nowhere' is not a known chain"),
        (
            "silent",
            "chain with value 'silent' is not offered by this operation (wallet transactions)",
        ),
        ("eth", "chain with value 'eth' is not served here; served chains: sim, silent"),
    ] {
        let answer = ask(chain);
        assert_eq!(answer.status, 400);
        assert!(answer.message().contains(says), "{answer:?}");
    }
    assert_eq!(ask("sim").status, 200);
}

#[test]
fn a_panic_is_answered_with_a_request_id_and_nothing_of_our_insides() {
    let server = TestServer::new();
    let answer = server.get("/metrics");
    assert_eq!(answer.status, 500);
    assert!(answer.head.contains("x-request-id"), "{answer:?}");
    assert!(answer.message().contains("internal error"), "{answer:?}");
    assert!(!answer.body.contains("metrics today") && !answer.body.contains("panic"), "{answer:?}");
    assert_eq!(server.get("/health/live").status, 200, "and the server goes on");
}
