//! KEY-14: module and cipher are those of the charter at the place where a run begins, which is a
//! view or a REFRESH.

use crate::common::table::{Table, step};
use folkmoot_base::{Cipher, Keying as Rule, ModuleName};
use folkmoot_keying::{Epoch, Input, Output, State, Terms};

fn terms(charter_version: u64, module: ModuleName, cipher: Cipher) -> Terms {
    Terms { charter_version, keying: Rule::Module(module), far: false, cipher }
}

/// The newest epoch of each member, which is equal at all.
fn epoch(table: &Table) -> Epoch {
    let newest = |outputs: &Vec<Output>| {
        let found = outputs.iter().rev().find_map(|output| match output {
            Output::SecureView(view) => Some(view.epoch.clone()),
            Output::Refreshed { epoch, .. } => Some(epoch.clone()),
            _ => None,
        });
        found.unwrap()
    };
    let epochs: Vec<Epoch> = table.outputs.iter().map(newest).collect();
    let first = &epochs[0];
    for other in &epochs {
        assert_eq!((other.name, other.module, other.cipher), (first.name, first.module, first.cipher));
    }
    assert!(table.keyings.iter().all(|keying| keying.state() == State::Secure));
    assert!(table.errors.iter().all(Vec::is_empty), "{:?}", table.errors);
    first.clone()
}

/// A group that stands moves through every module and both ciphers, with one refresh each, and
/// enters the next view with the last.
#[test]
fn key_14_a_group_that_stands_moves_to_another_module_and_cipher() {
    let mut table = Table::new(4, None);
    table.install(1, &[0, 1, 2, 3]);
    table.honest();
    assert_eq!((epoch(&table).module, epoch(&table).cipher), (ModuleName::Gdh, Cipher::Aes256Gcm));
    let mut names = vec![epoch(&table).name];
    let all = ModuleName::ALL.iter().rev();
    for (version, (module, cipher)) in (2..).zip(all.zip(Cipher::ALL.iter().rev().cycle())) {
        table.terms = terms(version, *module, *cipher);
        table.give(usize::try_from(version).unwrap() % 4, Input::Refresh).unwrap();
        table.honest();
        let now = epoch(&table);
        assert_eq!((now.module, now.cipher), (*module, *cipher));
        assert!(!names.contains(&now.name));
        names.push(now.name);
    }
    table.terms = terms(20, ModuleName::Tgdh, Cipher::Aes256Gcm);
    table.flush();
    table.install(2, &[0, 1, 2, 3]);
    table.honest();
    assert_eq!(epoch(&table).module, ModuleName::Tgdh);
}

/// The charter may change between the message that asks for a refresh and its place in the order:
/// the place counts.
#[test]
fn key_14_the_place_of_the_refresh_counts_not_its_sending() {
    let mut table = Table::new(3, None);
    table.install(1, &[0, 1, 2]);
    table.honest();
    table.give(0, Input::Refresh).unwrap();
    table.terms = terms(2, ModuleName::Mls, Cipher::ChaCha20Poly1305);
    table.honest();
    assert_eq!((epoch(&table).module, epoch(&table).cipher), (ModuleName::Mls, Cipher::ChaCha20Poly1305));
    // In the middle of a run a change has no effect on that run.
    table.give(1, Input::Refresh).unwrap();
    let (from, refresh) = table.log.pop_front().unwrap();
    (0..3).for_each(|to| table.say(to, from, &refresh).unwrap());
    table.terms = terms(3, ModuleName::Gdh, Cipher::Aes256Gcm);
    table.honest();
    assert_eq!(epoch(&table).module, ModuleName::Mls);
}

/// What a run of another module left is no base: the first run of the new module starts from
/// nothing.
#[test]
fn key_14_nothing_is_carried_from_one_module_to_another() {
    let mut table = Table::new(3, None);
    table.install(1, &[0, 1, 2]);
    table.honest();
    table.flush();
    table.heard.clear();
    table.terms = terms(2, ModuleName::Bd, Cipher::Aes256Gcm);
    table.install(2, &[0, 1, 2]);
    table.honest();
    let rounds: Vec<u8> = table.heard.iter().map(|(_, bytes)| step(bytes)).take(6).collect();
    assert_eq!(rounds, [1, 1, 1, 2, 2, 2], "both rounds of Burmester and Desmedt, by all");
    assert_eq!(epoch(&table).module, ModuleName::Bd);
}

/// Members that differ on the charter share no key: neither accepts the other's messages.
#[test]
fn key_14_who_reads_another_charter_gets_no_key() {
    let mut table = Table::new(2, None);
    let view = table.view_of(1, &[0, 1]);
    table.give(0, Input::View(view.clone())).unwrap();
    table.terms = Terms { cipher: Cipher::ChaCha20Poly1305, ..table.terms };
    table.give(1, Input::View(view)).unwrap();
    table.honest();
    assert!(table.keyings.iter().all(|keying| keying.state() != State::Secure));
    assert!(table.errors.iter().any(|errors| !errors.is_empty()));
}
