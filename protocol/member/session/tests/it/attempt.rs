//! What a former member can open with every key that it ever held: everything from its own time,
//! and nothing sealed after it.

use crate::common::{AES, Texts, key, members, sessions, view};
use folkmoot_base::{Party, Secret, ViewId};
use folkmoot_session::{KeptKey, danger_attempt};

/// Members 1 to 3 under keys 1 and 2, then only 1 and 2 under key 3. Returns what was sealed in
/// each epoch, and by both senders of the last one.
fn history() -> (Vec<bytes::Bytes>, Vec<(ViewId, Vec<Party>)>) {
    let mut sessions = sessions(3, None);
    let mut sealed = Vec::new();
    for order in 1..=2 {
        for session in &mut sessions {
            session.open_epoch(view(order), &members(3), &key(u8::try_from(order).unwrap()), AES).unwrap();
        }
        sealed.push(sessions[0].text(b"for three").unwrap());
    }
    for session in &mut sessions[..2] {
        session.open_epoch(view(3), &members(2), &key(3), AES).unwrap();
        sealed.push(session.text(b"for two").unwrap());
    }
    (sealed, vec![(view(3), members(2)), (view(2), members(3))])
}

fn kept(orders: &[u8]) -> Vec<KeptKey> {
    orders
        .iter()
        .map(|order| KeptKey {
            view: view(u64::from(*order)),
            members: members(3),
            key: key(*order),
            cipher: AES,
        })
        .collect()
}

#[test]
fn every_kept_key_opens_its_own_time() {
    let (sealed, candidates) = history();
    for message in &sealed[..2] {
        let attempt = danger_attempt(&kept(&[1, 2]), message, &candidates);
        assert!(attempt.opened && attempt.tries > 0);
        assert!(danger_attempt(&kept(&[1, 2]), message, &[]).opened, "the own views are always tried");
    }
}

#[test]
fn nothing_sealed_after_the_removal_opens() {
    let (sealed, candidates) = history();
    for message in &sealed[2..] {
        let attempt = danger_attempt(&kept(&[1, 2]), message, &candidates);
        // 2 keys, each under 3 contexts of 3, 2 and 3 places.
        assert_eq!((attempt.opened, attempt.tries), (false, 2 * (3 + 2 + 3)));
    }
}

/// The test of the test: with the one key that is missing, the very same attempt opens the message.
/// So only the key is missing, even if it is believed to belong to another view.
#[test]
fn with_the_missing_key_the_same_attempt_opens() {
    let (sealed, candidates) = history();
    for message in &sealed[2..] {
        let stolen = KeptKey { view: view(2), members: members(3), key: Secret::new([3; 32]), cipher: AES };
        assert!(danger_attempt(&[stolen], message, &candidates).opened);
    }
}

#[test]
fn what_is_no_sealed_message_is_not_tried() {
    let attempt = danger_attempt(&kept(&[1]), &bytes::Bytes::from_static(b"short"), &[]);
    assert_eq!((attempt.opened, attempt.tries), (false, 0));
}
