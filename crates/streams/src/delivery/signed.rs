//! Signatures of deliveries that were stored together: made side by side, which takes a third of the time, a moment
//! before they are sent.

use store::StreamId;

use super::directory::Directory;
use super::handed_over::HandedOver;
use super::id::delivery_id;
use crate::signature::{Secrets, ToSign, sign_all};

/// Receivers refuse what was signed minutes ago; what waits for longer than this is signed anew.
const COUNTS_FOR_MS: u64 = 5_000;
/// So many at once, as the widest processors hash side by side, and no larger ones: nothing else is done on their thread meanwhile.
pub(super) const SIDE_BY_SIDE: usize = 16;
const BODY_BYTES_MAX: usize = 256 << 10;

/// Of a first attempt, by the secret of its tenant.
pub(super) struct Signed {
    pub at_ms: u64,
    pub x_signature: String,
    pub webhook_signature: String,
    secrets: Secrets,
}

impl Signed {
    pub fn counts(&self, secrets: &Secrets, now_ms: u64) -> bool {
        now_ms.saturating_sub(self.at_ms) <= COUNTS_FOR_MS && *secrets == self.secrets
    }
}

/// Signs what can be signed together. The rest is signed when it is sent.
pub(super) fn sign(handed: &mut [&mut HandedOver], directory: &dyn Directory, now_ms: u64) {
    let mut known: Option<(StreamId, Secrets)> = None;
    let mut work = Vec::new();
    for handed in handed {
        let stream = handed.delivery.stream;
        if handed.body.len() > BODY_BYTES_MAX {
            continue;
        }
        if known.as_ref().is_none_or(|(of, _)| *of != stream) {
            known = directory.target(stream).map(|target| (stream, target.secrets));
        }
        // While a secret changes there are more signatures than one.
        let only = known.as_ref().filter(|(_, secrets)| secrets.only_at(now_ms));
        let Some((_, secrets)) = only else { continue };
        work.push((&mut **handed, secrets.clone()));
    }
    for work in work.chunks_mut(SIDE_BY_SIDE) {
        let id = |handed: &HandedOver| delivery_id(handed.delivery.stream, handed.delivery.seq);
        let ids: Vec<String> = work.iter().map(|(handed, _)| id(handed)).collect();
        let parts = work.iter().zip(&ids);
        let to_sign = parts.map(|((handed, secrets), id)| ToSign {
            secret: &secrets.current,
            id,
            body: &handed.body,
        });
        let to_sign: Vec<_> = to_sign.collect();
        let signatures = sign_all(&to_sign, now_ms / 1000);
        for ((handed, secrets), signatures) in work.iter_mut().zip(signatures) {
            let (x_signature, webhook_signature) = signatures;
            let secrets = secrets.clone();
            handed.signed = Some(Signed { at_ms: now_ms, x_signature, webhook_signature, secrets });
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use futures_util::future::BoxFuture;

    use super::*;
    use crate::delivery::directory::{StatusChange, TargetInfo};
    use crate::delivery::handed_over::HandOver;
    use crate::delivery::test_delivery::queued;
    use crate::signature::{standard_signature, x_signature};

    const NOW_MS: u64 = 1_700_000_000_999;

    /// Stream 1 has one secret, of stream 2 it is changing, of stream 3 it has changed; others are not known.
    struct Three;

    fn secrets(stream: StreamId) -> Option<Secrets> {
        let current = format!("secret of {}", stream[0]);
        let previous = match stream[0] {
            1 => None,
            2 => Some(("old".to_owned(), NOW_MS + 1)),
            3 => Some(("old".to_owned(), NOW_MS)),
            _ => return None,
        };
        Some(Secrets { current, previous })
    }

    impl Directory for Three {
        fn target(&self, id: StreamId) -> Option<TargetInfo> {
            let secrets = secrets(id)?;
            Some(TargetInfo {
                tenant: String::new(),
                webhook_url: String::new(),
                tag: String::new(),
                is_sending: true,
                secrets,
                region: String::new(),
                success_rate: 100,
            })
        }

        fn sending(&self) -> Vec<StreamId> {
            Vec::new()
        }

        fn change_status(&self, _: StreamId, _: StatusChange, _: String) -> BoxFuture<'_, ()> {
            std::future::ready(()).boxed()
        }

        fn record_rate(&self, _: StreamId, _: u8) {}
    }

    #[test]
    fn what_has_one_secret_is_signed_and_the_rest_is_left_to_its_sending() {
        let room = HandOver::default();
        let mut handed: Vec<HandedOver> = (0..100)
            .map(|n| queued([1, 1, 2, 3, 9][n % 5], n as u64, n * 37))
            .chain([queued(1, 200, BODY_BYTES_MAX + 1)])
            .filter_map(|queued| room.take(queued).handed_over)
            .collect();
        assert_eq!(handed.len(), 101);
        sign(&mut handed.iter_mut().collect::<Vec<_>>(), &Three, NOW_MS);
        for HandedOver { delivery, body, signed, .. } in &handed {
            let secrets = secrets(delivery.stream);
            let is_signed = matches!(delivery.stream[0], 1 | 3) && delivery.seq < 200;
            assert_eq!(signed.is_some(), is_signed, "{delivery:?}");
            let (Some(signed), Some(secrets)) = (signed, secrets) else { continue };
            let id = delivery_id(delivery.stream, delivery.seq);
            let standard = standard_signature(&secrets.current, &id, NOW_MS / 1000, body);
            assert_eq!(signed.webhook_signature, standard);
            assert_eq!(signed.x_signature, x_signature(body, &secrets.current));
            assert_eq!(signed.at_ms, NOW_MS);
        }
    }

    #[test]
    fn it_counts_for_seconds_and_for_the_same_secret_only() {
        let secrets = Secrets::new("one");
        let signed = Signed {
            at_ms: NOW_MS,
            x_signature: String::new(),
            webhook_signature: String::new(),
            secrets: secrets.clone(),
        };
        assert!(signed.counts(&secrets, NOW_MS));
        assert!(signed.counts(&secrets, NOW_MS + COUNTS_FOR_MS));
        assert!(!signed.counts(&secrets, NOW_MS + COUNTS_FOR_MS + 1));
        assert!(!signed.counts(&Secrets::new("two"), NOW_MS));
        let changing =
            Secrets { current: "two".into(), previous: Some(("one".into(), NOW_MS + 9)) };
        assert!(!signed.counts(&changing, NOW_MS));
    }
}
