//! Valid inputs for each target, made from real objects.

use crate::world::world;
use crate::{
    admission, asm, attach, dealers, discovery, frames, keys, letters, lines, links, members, offices,
    orders, pubsub, replicas, runs, secured, shares, sharing, stacks, stored, typed, values,
};
use folkmoot_base::codec::{Serialize as _, encode};
use folkmoot_base::{Blob, EntryId, GroupName, Party, Service};
use folkmoot_identity::{KeyAlgorithm, SignedMessage, SignerCertificate, SigningKey, Stamp};

/// Inputs of one target.
pub type Seeds = Vec<Vec<u8>>;

/// For each target its name and its inputs.
pub fn seeds() -> Vec<(&'static str, Seeds)> {
    let mut all = plain();
    let [forms, at_table] = asm::asm_seeds();
    all.extend([("asm_forms", forms), ("asm_words", at_table), ("signing_kinds", values::kinds_seeds())]);
    all.extend(papers());
    all.extend(lines::seeds());
    all.extend(lcm());
    all.extend(discovery::seeds());
    all.extend(typed::seeds());
    let [ring_frames, ring_gathering, ring_operational] = orders::ring_seeds();
    let [admission, desk, applicant] = admission::admission_seeds();
    let [authority, office, at_authority] = offices::authority_seeds();
    let [words, at_desk, writing] = letters::letters_seeds();
    let [sync, node] = stacks::node_seeds(&ring_frames, &admission);
    let [group, ordered] = orders::group_seeds();
    let [flush, flushing] = keys::flush_seeds();
    let [envelopes, keying] = keys::keying_seeds();
    let [stranger, wire, datagrams] = links::wire_seeds();
    let [sharings, dealings, frost_forms] = sharing::sharing_seeds();
    let [dealt, shoup, ts_rsa] = shares::share_seeds();
    let [kept, sent] = dealers::dealer_seeds();
    let [replica_words, replica] = replicas::replica_seeds();
    all.extend([
        ("link_message", datagrams),
        ("link_stranger", stranger.clone()),
        ("link_wire", wire),
        ("link_liar", links::liar_seeds()),
        ("ring_frame", ring_frames),
        ("ring_gathering", ring_gathering),
        ("ring_operational", ring_operational),
        ("group_message", group),
        ("group_ordered", ordered),
        ("flush_frame", flush),
        ("flush_machine", flushing),
        ("agreement_run", runs::agreement_seeds()),
        ("sharing_forms", sharings),
        ("sharing_run", dealings),
        ("frost_forms", frost_forms),
        ("keying_envelope", envelopes),
        ("keying_machine", keying),
        ("session_machine", keys::session_seeds()),
        ("admission_message", admission.clone()),
        ("admission_desk", desk),
        ("admission_applicant", applicant),
        ("authority_message", authority),
        ("authority_office", office),
        ("authority_desk", at_authority),
        ("letters_word", words),
        ("letters_desk", at_desk),
        ("letters_writer", writing),
        ("node_sync", sync),
        ("node_peer", node),
        ("member_words", members::member_seeds(&admission)),
        ("embedded_stranger", stranger),
        ("embedded_pair", stacks::pair_seeds()),
        ("attach_frames", attach::attach_seeds()),
        ("stored_state", stored::stored_seeds()),
        ("shoup_forms", dealt),
        ("shoup_run", shoup),
        ("ts_rsa_run", ts_rsa),
        ("dealer_secret", kept),
        ("dealer_share", sent),
        ("replica_message", replica_words),
        ("replica_machine", replica),
    ]);
    all
}

fn lcm() -> [(&'static str, Seeds); 9] {
    let [datagrams, receivers, logs, addresses] = pubsub::lcm_seeds();
    let [headers, openers, rights, permits, confirmings] = secured::lcm_seeds();
    [
        ("lcm_datagram", datagrams),
        ("lcm_receiver", receivers),
        ("lcm_log", logs),
        ("lcm_address", addresses),
        ("lcm_header", headers),
        ("lcm_opener", openers),
        ("lcm_right", rights),
        ("lcm_permit", permits),
        ("lcm_confirming", confirmings),
    ]
}

/// A key that OpenSSL sealed under "right", as cheaply as can be (`-scrypt_N 2 -scrypt_r 1
/// -scrypt_p 1`).
const SEALED_BY_OPENSSL: &str = "\
-----BEGIN ENCRYPTED PRIVATE KEY-----\n\
MIHjME4GCSqGSIb3DQEFDTBBMCAGCSsGAQQB2kcECzATBAgSHTYvfU3/mwIBAgIB\n\
AQIBATAdBglghkgBZQMEASoEEAONEBp/DfTVJbkUqyd/FPQEgZANrW59sccxoGXd\n\
/PpL13m9K/PQXsKOOWLK3tqabTRGN6//kKeF7TLh6dvPOZTV+v1xf8eQ8IQEmtwz\n\
he8aWgKIMquCR7kgwzsAFWDh2UxK2NFjfZyB+1/dfQOgOrctcx3+nk6GEE+p9IW+\n\
liVUP8oYcVonqAQ2zDhCekAOea+o4aCldMKrL0knNYATDGns7UI=\n\
-----END ENCRYPTED PRIVATE KEY-----\n\
";

/// Made by OpenSSL 3.0, with an extension, and with the higher of its two signatures.
const CSR_OF_OPENSSL: &str = "\
-----BEGIN CERTIFICATE REQUEST-----\n\
MIHnMIGNAgEAMA8xDTALBgNVBAMMBGVyaWswWTATBgcqhkjOPQIBBggqhkjOPQMB\n\
BwNCAAQ2ps2vSeOCYdDQtUFy1TbWWYcb57GgQgyQk1HH5VqRTMaow753dndCrfvP\n\
DW0wJ2+V6DsOD6d/vEgIWlHXNySooBwwGgYJKoZIhvcNAQkOMQ0wCzAJBgNVHRME\n\
AjAAMAoGCCqGSM49BAMCA0kAMEYCIQCyh0m63+xsuXKilrWg95eElQGVIs1GeDEa\n\
89se7H7pawIhAIS35AaGT5QURgxmibtKG/I2Kqk/BQkuKAfdhMp5q1dD\n\
-----END CERTIFICATE REQUEST-----\n";

fn plain() -> Vec<(&'static str, Seeds)> {
    let name = GroupName::new("Lesekreis \u{2615}").expect("a legal name");
    let codec = vec![
        encode(&Blob::from(vec![1, 2, 3])),
        encode(&name),
        encode(&vec![EntryId([1; 32]), EntryId([2; 32])]),
        encode(&Some(frames::view_id(world().group(), 3))),
        encode(&None::<folkmoot_base::ViewId>),
        encode(&frames::party(1, 258)),
    ];
    let texts = [
        "memory/7",
        "udp/192.0.2.7:4803",
        "udp/[2001:db8::1]:4803",
        "udp/[::ffff:192.0.2.7]:4803",
        "udp/[fe80::1%3]:4803",
        "udp/0.0.0.0:0",
        "tor+tcp.v3-x/abc.onion:80/a,b?c#d",
        "book club",
        "Anna.Example.org.:4803",
        "dns/anna.example.org:4803",
    ];
    let mut texts: Seeds = texts.iter().map(|text| text.as_bytes().to_vec()).collect();
    texts.push(world().group().hex().into_bytes());
    texts.push(frames::party(1, 258).hex().into_bytes());
    texts.push(world().transcript.state().head().whole().into_bytes());
    let drawn = (20_u64..).zip(KeyAlgorithm::ALL).map(|(seed, one)| {
        SigningKey::draw(*one, &mut crate::script::Dice(seed)).expect("a key comes of any dice")
    });
    let mut forms = Vec::new();
    for key in drawn {
        let signature = key.sign(b"folkmoot seed v1", b"x");
        forms.push(key.verifying_key().spki_der().to_vec());
        forms.push(signature.tls_serialize_detached().expect("a signature encodes"));
        forms.push(signature.to_paper());
        forms.push(key.to_pkcs8_der().expect("a key encodes").expose().clone());
    }
    let (_, token) = values::gdh_merge();
    let tokens = vec![encode(&token), token.values.first().map(|value| value.0.to_vec()).unwrap_or_default()];
    vec![("base_codec", codec), ("base_text", texts), ("signing_forms", forms), ("agreement_token", tokens)]
}

/// Keys that a charter may leave out.
const CHARTER_LINES: &str = "algorithms = [\"p256\"]\nhash = \"sha256\"\nnot_before = 1\nnot_after = 4000000000\n\
    contacts = [\"udp/192.0.2.7:4803\", \"udp/[2001:db8::7]:4803\", \"quic/host.example:443\"]\n";

fn papers() -> Vec<(&'static str, Seeds)> {
    let world = world();
    let bob = &world.founders[1];
    let gmc = world.gmc();
    let key = bob.key_pem().expect("a key encodes");
    let both = [key.expose().as_bytes(), b"\0", bob.certificate_pem().as_bytes()].concat();
    let vote = world.vote(0);
    let hybrid = String::from_utf8_lossy(world.charter().bytes());
    let hybrid = hybrid.replacen("contributory", "hybrid_links = true\ncontributory", 1);
    let more = format!("format = 2\n{CHARTER_LINES}");
    let more = String::from_utf8_lossy(world.charter().bytes()).replacen("format = 2\n", &more, 1);
    let (view, sender) = (frames::view_id(world.group(), 3), Party::new(bob.member(), 258));
    let stamp = Stamp { view, epoch: [4; 8], sender, number: 5, service: Service::Agreed };
    let shown = SignerCertificate::Founder(Box::new(bob.certificate().clone()));
    let said = SignedMessage::assemble(stamp, "yes".into(), &stamp.sign(bob.key(), b"yes"), shown);
    let said = said.expect("bob signed it");
    let revoked = |count| world.revocations(count).der().to_vec();
    vec![
        ("certificate_der", vec![bob.certificate().der().to_vec()]),
        ("identity_pem", vec![bob.certificate_pem().into_bytes(), both]),
        ("sealed_key", vec![SEALED_BY_OPENSSL.into()]),
        ("membership_der", vec![gmc.der().to_vec()]),
        ("revocation_der", vec![revoked(0), revoked(2), world.revocations(1).body().tbs().expect("few")]),
        ("charter_toml", vec![world.charter().bytes().to_vec(), hybrid.into_bytes(), more.into_bytes()]),
        (
            "charter_change",
            vec![
                b"threshold=1\nhybrid_links=true\nminority=stop\ntimeouts.step_ms=900\nrequest_hours=1"
                    .to_vec(),
                b"contacts=m/1,udp/192.0.2.7:4803,udp/[2001:db8::7]:4803\ncontacts=none\nnot_after=9"
                    .to_vec(),
            ],
        ),
        ("signed_charter", vec![world.signed.der().to_vec()]),
        ("vote", vec![vote.der().to_vec(), vote.body().encode(), encode(&vote.proof())]),
        ("request", vec![world.request().der().to_vec(), world.by_csr().der().to_vec()]),
        ("csr", vec![world.csr().der().to_vec(), world.csr().to_pem().into_bytes(), CSR_OF_OPENSSL.into()]),
        ("signed_message", vec![said.der().to_vec(), stamp.record(b"no")]),
    ]
}
