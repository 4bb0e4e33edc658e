//! A folder whose key is under a passphrase, opened by a program.

use folkmoot::tools::OsEntropy;
use folkmoot::{Error, Folkmoot, GroupName, Options, Passphrase, StateError, StateFolder, UnixTime};
use folkmoot_base::Secret;
use folkmoot_identity::{CharterDraft, Founder, Identity, SignedCharter};

fn passphrase(text: &str) -> Passphrase {
    Passphrase::new(Secret::new(text.as_bytes().to_vec())).unwrap()
}

#[tokio::test]
async fn id_84_a_program_opens_a_member_with_its_passphrase() {
    let path = std::env::temp_dir().join(format!("folkmoot-sealed-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    let mut entropy = OsEntropy::new().unwrap();
    let anna = Identity::new("anna", &mut entropy, UnixTime(0), UnixTime(4_000_000_000)).unwrap();
    let founders = vec![Founder::from(anna.certificate())];
    let text = CharterDraft::new(GroupName::new("club").unwrap(), 1, founders, &mut entropy).to_toml();
    let folder = StateFolder::open(&path).unwrap();
    let sealed = anna.sealed_key_pem(&passphrase("right"), &mut entropy).unwrap();
    folder.write_identity(&sealed, &anna.certificate_pem()).unwrap();
    folder.write_charter(SignedCharter::sign(&text, &[&anna]).unwrap().der()).unwrap();
    let options = Options::new(&path).listen(([127, 0, 0, 1], 0));
    let none = Folkmoot::open_with(options.clone()).await.unwrap_err();
    assert!(matches!(none, Error::State(StateError::LocalSealed { .. })), "{none}");
    let wrong = Folkmoot::open_with(options.clone().passphrase(passphrase("wrong"))).await.unwrap_err();
    assert!(matches!(wrong, Error::State(StateError::LocalPassphrase { .. })), "{wrong}");
    let moot = Folkmoot::open_with(options.passphrase(passphrase("right"))).await.unwrap();
    assert_eq!(moot.me(), anna.member());
    moot.close().await.unwrap();
    std::fs::remove_dir_all(&path).unwrap();
}
