//! ID-35 to ID-39: which module agrees on keys and which cipher seals under them, in hybrid form or
//! not, in which group; and who may write to the group.

use crate::common::{Seed, World};
use folkmoot_base::{Cipher, GroupId, GroupName, Keying, ModuleName};
use folkmoot_identity::{Charter, CharterDraft, CharterError};

/// Every module and cipher can be in a founding charter, and be voted in. Modules without a share
/// for everybody are allowed only if the charter says so, and it cannot forbid what it uses.
#[test]
fn id_35_modules_and_ciphers_are_chosen_by_name() {
    let founded = World::new().charter().clone();
    assert!(founded.contributory() && founded.keying() == Keying::BySize);
    let toml = std::str::from_utf8(founded.bytes()).unwrap();
    let free = founded.with_change("contributory", "false").unwrap();
    for module in ModuleName::ALL {
        let word = module.as_str();
        if module.is_hybrid() {
            assert!(free.with_change("keying", word).is_err(), "{word} has a field of its own");
            continue;
        }
        let change = free.with_change("keying", word).unwrap();
        assert_eq!(change.keying(), Keying::Module(*module));
        assert_eq!(founded.with_change("keying", word).is_ok(), module.contributory(), "{word}");
        assert_eq!(change.with_change("contributory", "true").is_ok(), module.contributory(), "{word}");
        let text = toml
            .replace("\"by-size\"", &format!("\"{word}\""))
            .replace("contributory = true", &format!("contributory = {}", module.contributory()));
        assert_eq!(Charter::from_toml(&text).unwrap().keying(), Keying::Module(*module));
    }
    for cipher in Cipher::ALL {
        let text = toml.replace("aes-256-gcm", cipher.as_str());
        assert_eq!(Charter::from_toml(&text).unwrap().cipher(), *cipher);
    }
    assert_eq!(
        founded.with_change("cipher", "chacha20-poly1305").unwrap().cipher(),
        Cipher::ChaCha20Poly1305
    );
}

#[test]
fn id_37_named_groups_have_rules_of_their_own() {
    let founded = World::new().charter().clone();
    let toml = std::str::from_utf8(founded.bytes()).unwrap();
    let [log, other] =
        ["log", "a.b c"].map(|name| GroupId::of_name(&founded.group(), &GroupName::new(name).unwrap()));
    let usual = (Keying::BySize, Cipher::Aes256Gcm);
    assert_eq!((founded.suite(&founded.group()), founded.suite(&log)), (usual, usual));
    let text = format!(
        "{toml}\n[groups.log]\nkeying = \"tgdh\"\n[groups.\"a.b c\"]\ncipher = \"chacha20-poly1305\"\n"
    );
    let read = Charter::from_toml(&text).unwrap();
    let home = GroupId::of_name(&read.group(), &GroupName::new("log").unwrap());
    assert_eq!(read.suite(&home), (Keying::Module(ModuleName::Tgdh), Cipher::Aes256Gcm));

    let changed = founded.with_change("groups.log.keying", "str").unwrap();
    assert_eq!(changed.suite(&log), (Keying::Module(ModuleName::Str), Cipher::Aes256Gcm));
    let changed = changed.with_change("groups.a.b c.cipher", "chacha20-poly1305").unwrap();
    assert_eq!(changed.suite(&other), (Keying::BySize, Cipher::ChaCha20Poly1305));
    assert_eq!((changed.suite(&founded.group()), changed.keying()), (usual, Keying::BySize));
    // Where nothing of its own is said, the charter's is followed.
    let moved = changed.with_change("keying", "gdh").unwrap();
    assert_eq!(moved.suite(&other), (Keying::Module(ModuleName::Gdh), Cipher::ChaCha20Poly1305));
    assert_eq!(changed.with_change("groups.log.keying", "inherit").unwrap().suite(&log), usual);

    for (field, word) in [
        ("groups.log.keying", "mls"),
        ("groups.log.keying", "rsa"),
        ("groups.log.keying", "inherit"),
        ("groups.log.cipher", "rot13"),
        ("groups.log.threshold", "1"),
        ("groups..keying", "gdh"),
        ("groups.keying", "gdh"),
        ("groups.log", "gdh"),
    ] {
        let refused = founded.with_change(field, word);
        assert!(matches!(refused, Err(CharterError::PeerChange { .. })), "{field} = {word}: {refused:?}");
    }
    let free = founded.with_change("contributory", "false").unwrap();
    let mls = free.with_change("groups.log.keying", "mls").unwrap();
    assert!(mls.with_change("contributory", "true").is_err(), "a module without shares is in use");
    assert!(mls.with_change("keying", "ckd").unwrap().with_change("hybrid", "true").is_ok());
    let mixed = free.with_change("keying", "ckd").unwrap().with_change("groups.log.keying", "gdh").unwrap();
    assert!(mixed.with_change("hybrid", "true").is_err(), "a group's module has no such form");
    let mut many = founded.clone();
    for number in 0..64 {
        many = many.with_change(&format!("groups.g{number}.keying"), "bd").unwrap();
    }
    assert!(many.with_change("groups.one-more.keying", "bd").is_err());
}

const NO_HYBRID: &str = "only the modules ckd and mls have a form with ML-KEM-768";

/// `hybrid` can be founded with and voted for only with a module that has such a form, and that
/// module stays while it is true.
#[test]
fn id_36_hybrid_goes_with_modules_that_have_such_a_form() {
    let founded = World::new().charter().clone();
    let toml = std::str::from_utf8(founded.bytes()).unwrap();
    assert!(!toml.contains("hybrid") && !founded.hybrid());
    let refused = |result: Result<Charter, CharterError>, word: &str| match result.unwrap_err() {
        CharterError::PeerChange { reason, .. } => assert_eq!(reason, NO_HYBRID, "{word}"),
        CharterError::WireValue { key, reason } => assert_eq!((key, reason), ("hybrid", NO_HYBRID), "{word}"),
        other => panic!("{word}: {other}"),
    };
    refused(founded.with_change("hybrid", "true"), "by-size");
    let free = founded.with_change("contributory", "false").unwrap();
    for module in ModuleName::ALL.iter().filter(|module| !module.is_hybrid()) {
        let word = module.as_str();
        let named = free.with_change("keying", word).unwrap();
        let text = toml.replace("\"by-size\"", &format!("\"{word}\"")).replace(
            "contributory = true",
            &format!("hybrid = true\ncontributory = {}", module.contributory()),
        );
        let (voted, written) = (named.with_change("hybrid", "true"), Charter::from_toml(&text));
        let Some(hybrid) = module.hybrid() else {
            refused(voted, word);
            refused(written, word);
            continue;
        };
        for charter in [voted.unwrap(), written.unwrap()] {
            assert!(charter.hybrid());
            assert_eq!(charter.keying(), Keying::Module(*module));
            assert_eq!(charter.agreement(), Keying::Module(hybrid));
            refused(charter.with_change("keying", "gdh"), word);
            let back = charter.with_change("hybrid", "false").unwrap();
            assert_eq!(back.agreement(), Keying::Module(*module));
            assert_ne!(back.digest(), charter.digest());
        }
    }
    let drafted = CharterDraft {
        keying: Keying::Module(ModuleName::Ckd),
        hybrid: true,
        ..CharterDraft::new(founded.name().clone(), 1, founded.founders().to_vec(), &mut Seed(1))
    };
    assert!(Charter::from_toml(&drafted.to_toml()).unwrap().hybrid());
}

/// Nobody outside may write to a group unless its charter says so, by its founding text or by vote.
#[test]
fn id_38_letters_are_taken_where_the_charter_says_so() {
    let founded = World::new().charter().clone();
    let toml = std::str::from_utf8(founded.bytes()).unwrap();
    assert!(!toml.contains("letters") && !founded.letters());
    let voted = founded.with_change("letters", "true").unwrap();
    assert!(voted.letters() && voted.digest() != founded.digest());
    assert!(!voted.with_change("letters", "false").unwrap().letters());
    for word in ["yes", "TRUE", ""] {
        assert!(founded.with_change("letters", word).is_err(), "{word}");
    }
    let draft = CharterDraft::new(founded.name().clone(), 1, founded.founders().to_vec(), &mut Seed(1));
    assert!(Charter::from_toml(&CharterDraft { letters: true, ..draft }.to_toml()).unwrap().letters());
}

/// The founding charter sets `hybrid_links` for good, whatever agrees on keys.
#[test]
fn id_39_links_are_hybrid_from_the_first_or_never() {
    let founded = World::new().charter().clone();
    assert!(!founded.hybrid_links());
    let draft = |hybrid_links| CharterDraft {
        hybrid_links,
        ..CharterDraft::new(founded.name().clone(), 1, founded.founders().to_vec(), &mut Seed(1))
    };
    assert!(!draft(false).to_toml().contains("hybrid"), "older releases read a charter without it");
    let number = draft(true).to_toml().replace("hybrid_links = true", "hybrid_links = 1");
    assert!(Charter::from_toml(&number).is_err());
    for hybrid in [false, true] {
        let charter = Charter::from_toml(&draft(hybrid).to_toml()).unwrap();
        assert_eq!((charter.hybrid_links(), charter.hybrid()), (hybrid, false), "a word of its own");
        assert_eq!(charter.with_change("threshold", "2").map(|next| next.hybrid_links()), Ok(hybrid));
        for word in ["true", "false", "yes"] {
            let CharterError::PeerChange { reason, .. } =
                charter.with_change("hybrid_links", word).unwrap_err()
            else {
                panic!("{word}")
            };
            assert!(reason.starts_with("it is fixed when the group is founded"), "{reason}");
        }
    }
    assert_ne!(
        Charter::from_toml(&draft(true).to_toml()).unwrap().group(),
        Charter::from_toml(&draft(false).to_toml()).unwrap().group(),
        "two groups, so that nobody is of both minds about one"
    );
}
