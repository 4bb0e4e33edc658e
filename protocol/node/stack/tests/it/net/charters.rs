//! Charters of the people here.

use super::{Dice, NOW, locator, person};
use bytes::Bytes;
use folkmoot_base::GroupName;
use folkmoot_identity::{
    AuthorityBody, AuthorityCertificate, Central, CharterDraft, Contact, Founder, GroupKey, Identity,
    SignedCharter, SigningKey,
};

/// A charter of the first `count` people; one vote admits.
pub fn charter(count: usize) -> Bytes {
    charter_with(count, false)
}

/// The same, with links of either form.
pub fn charter_with(count: usize, hybrid_links: bool) -> Bytes {
    charter_naming(count, hybrid_links, &[])
}

/// The same, in which these people's nodes are the contacts.
pub fn charter_naming(count: usize, hybrid_links: bool, contacts: &[usize]) -> Bytes {
    let founders: Vec<&Identity> = (0..count).map(person).collect();
    let named = founders.iter().map(|founder| Founder::from(founder.certificate())).collect();
    let draft = CharterDraft::new(GroupName::new("moot").unwrap(), 1, named, &mut Dice(7));
    let contacts = contacts.iter().map(|who| Contact::read(&locator(*who).to_string()).unwrap()).collect();
    let draft = CharterDraft { hybrid_links, contacts, ..draft };
    SignedCharter::sign(&draft.to_toml(), &founders).unwrap().der().to_vec().into()
}

/// The charter of a group of these people; one vote admits.
pub fn charter_of(name: &str, people: &[usize]) -> Bytes {
    let founders: Vec<&Identity> = people.iter().map(|who| person(*who)).collect();
    let named = founders.iter().map(|founder| Founder::from(founder.certificate())).collect();
    let draft = CharterDraft::new(GroupName::new(name).unwrap(), 1, named, &mut Dice(17));
    SignedCharter::sign(&draft.to_toml(), &founders).unwrap().der().to_vec().into()
}

/// The key that certifies for the group, and its certificate.
pub fn ca() -> (SigningKey, AuthorityCertificate) {
    let key = SigningKey::generate(&mut Dice(8));
    let body = AuthorityBody::new(
        "moot",
        GroupKey::from_spki_der(key.verifying_key().spki_der()).unwrap(),
        NOW,
        &mut Dice(9),
    );
    let signature = key.sign_raw(&body.tbs().unwrap()).to_paper();
    let certificate = AuthorityCertificate::close(&body, &signature).unwrap();
    (key, certificate)
}

/// The same, of a group whose authority speaks through the node of `speaks`.
pub fn charter_under(count: usize, speaks: usize) -> Bytes {
    let founders: Vec<&Identity> = (0..count).map(person).collect();
    let named = founders.iter().map(|founder| Founder::from(founder.certificate())).collect();
    let draft = CharterDraft::new(GroupName::new("moot").unwrap(), 1, named, &mut Dice(7));
    let certificate = ca().1;
    let nodes = [person(speaks).member()].into();
    let draft = CharterDraft { central: Some(Central { certificate, nodes, dealer: None }), ..draft };
    SignedCharter::sign(&draft.to_toml(), &founders).unwrap().der().to_vec().into()
}
