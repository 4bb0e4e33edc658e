use super::*;
use folkmoot_base::UnixTime;
use std::collections::BTreeSet;

struct Count(u8);

impl Entropy for Count {
    fn fill(&mut self, out: &mut [u8]) {
        for byte in out {
            self.0 = self.0.wrapping_mul(181).wrapping_add(7);
            *byte = self.0;
        }
    }
}

fn phrase(text: &str) -> Passphrase {
    Passphrase::new(Secret::new(text.as_bytes().to_vec())).unwrap()
}

fn anna() -> Identity {
    Identity::new("anna", &mut Count(3), UnixTime(0), UnixTime(1_000)).unwrap()
}

/// Anna's key, sealed as cheaply as can be.
fn cheap(entropy: &mut Count) -> String {
    let params = Params::new(1, 1, 1).unwrap();
    seal(&anna().key_pem().unwrap(), &phrase("right"), params, entropy).unwrap()
}

/// A file that asks for these costs. Nothing in it can be opened.
fn asking(kdf: impl Into<Kdf>) -> String {
    let encryption = pkcs5::pbes2::EncryptionScheme::Aes256Cbc { iv: [1; 16] };
    let scheme = Parameters { kdf: kdf.into(), encryption }.into();
    let der = SealedKey { scheme, data: OctetString::new(vec![7; 160]).unwrap() }.to_der().unwrap();
    der::pem::encode_string(SEALED, LineEnding::LF, &der).unwrap()
}

fn scrypt(n: u64, r: u16, p: u16) -> pkcs5::pbes2::ScryptParams {
    let params = Params::new(1, 1, 1).unwrap();
    let mut made = pkcs5::pbes2::ScryptParams::from_params_and_salt(params, &[5; 16]).unwrap();
    (made.cost_parameter, made.block_size, made.parallelization) = (n, r, p);
    made
}

#[test]
fn id_80_what_is_sealed_opens_with_its_passphrase_and_salts_differ() {
    let (anna, mut entropy) = (anna(), Count(9));
    let sealed = anna.sealed_key_pem(&phrase("right"), &mut entropy).unwrap();
    assert!(is_sealed_key(&sealed) && !is_sealed_key(anna.key_pem().unwrap().expose()));
    let opened = Identity::from_sealed_pem(&sealed, &phrase("right"), &anna.certificate_pem()).unwrap();
    assert_eq!(opened.key_pem().unwrap().expose(), anna.key_pem().unwrap().expose());
    assert_ne!(cheap(&mut entropy), cheap(&mut entropy));
    let other = Identity::new("ben", &mut Count(8), UnixTime(0), UnixTime(1_000)).unwrap();
    let mixed = Identity::from_sealed_pem(&sealed, &phrase("right"), &other.certificate_pem());
    assert_eq!(mixed.unwrap_err(), SealedKeyError::Certificate(CertificateError::LocalNotHolder));
}

#[test]
fn id_80_sealed_keys_hold_no_byte_sequence_of_the_key() {
    let (anna, sealed) = (anna(), cheap(&mut Count(9)));
    let (_, open) = der::pem::decode_vec(anna.key_pem().unwrap().expose().as_bytes()).unwrap();
    let (_, closed) = der::pem::decode_vec(sealed.as_bytes()).unwrap();
    let parts: BTreeSet<&[u8]> = open.windows(8).collect();
    assert!(closed.windows(8).all(|part| !parts.contains(part)));
}

/// Among 2,000 some leave a padding that could be right, and some begin like what was sealed.
#[test]
fn id_81_a_wrong_passphrase_is_refused_in_one_way_however_wrong_it_is() {
    let sealed = cheap(&mut Count(9));
    let refused = |text: &str| open_sealed_key(&sealed, &phrase(text)).unwrap_err();
    for near in ["righ", "rightt", "Right", "right ", "right\n", "r", "wrong"] {
        assert_eq!(refused(near), SealedKeyError::LocalWrong, "{near:?}");
    }
    let mut padded = 0;
    for number in 0..2_000 {
        let text = format!("wrong {number}");
        let found = read(&sealed).unwrap();
        padded += usize::from(found.scheme.decrypt(text.as_bytes(), found.data.as_bytes()).is_ok());
        assert_eq!(refused(&text), SealedKeyError::LocalWrong);
    }
    assert!(padded > 0, "none of them came past the padding");
    assert!(open_sealed_key(&sealed, &phrase("right")).is_ok());
}

#[test]
fn id_82_a_file_that_asks_for_too_much_is_refused_before_anything_is_derived() {
    let bounded = |pem: &str| read(pem).is_ok();
    for (n, r, p) in [(2, 1, 1), (1 << 14, 8, 5), (1 << 14, 8, 1), (1 << 17, 8, 1), (1 << 20, 1, 4)] {
        assert!(bounded(&asking(scrypt(n, r, p))), "{n} {r} {p}");
    }
    let hostile = [
        (0, 8, 1),
        (1, 8, 1),
        (3, 8, 1),
        (1 << 18, 8, 1),
        (1 << 63, 8, 1),
        (u64::MAX, 8, 1),
        (1 << 14, 0, 1),
        (1 << 14, 65, 1),
        (1 << 14, u16::MAX, 1),
        (1 << 14, 8, 0),
        (1 << 14, 8, 33),
        (2, 8, 65),
        (2, 1, u16::MAX),
    ];
    for (n, r, p) in hostile {
        assert!(!bounded(&asking(scrypt(n, r, p))), "{n} {r} {p}");
    }
    let rounds = |count| pkcs5::pbes2::Pbkdf2Params::hmac_sha256(count, &[5; 8]).unwrap();
    assert!(bounded(&asking(rounds(2_048))) && bounded(&asking(rounds(ROUNDS_MAX))));
    assert!(!bounded(&asking(rounds(0))) && !bounded(&asking(rounds(ROUNDS_MAX + 1))));
}

#[test]
fn id_82_every_changed_bit_is_refused_and_none_takes_long() {
    let sealed = cheap(&mut Count(9));
    let (_, der) = der::pem::decode_vec(sealed.as_bytes()).unwrap();
    let anna = anna();
    for bit in 0..der.len() * 8 {
        let mut altered = der.clone();
        altered[bit / 8] ^= 1 << (bit % 8);
        let pem = der::pem::encode_string(SEALED, LineEnding::LF, &altered).unwrap();
        // A bit of the iv turns one of the key's first bytes: what opens then is no key, or not
        // anna's.
        let opened = Identity::from_sealed_pem(&pem, &phrase("right"), &anna.certificate_pem());
        assert!(opened.is_err() || opened.unwrap().member() == anna.member(), "bit {bit}");
    }
}

#[test]
fn passphrases_have_limits_and_do_not_print() {
    let new = |bytes: usize| Passphrase::new(Secret::new(vec![b'x'; bytes]));
    assert_eq!(new(0).unwrap_err(), SealedKeyError::LocalEmpty);
    assert_eq!(new(PASSPHRASE_BYTES_MAX + 1).unwrap_err(), SealedKeyError::LocalLong);
    assert!(new(PASSPHRASE_BYTES_MAX).is_ok());
    assert!(!format!("{:?}", phrase("right")).contains("right"));
}

#[test]
fn what_is_no_sealed_key_is_refused_with_what_to_do() {
    let open = anna().key_pem().unwrap();
    let twice = format!("{0}{0}", cheap(&mut Count(9)));
    for pem in ["", "no key", open.expose(), &twice] {
        assert_eq!(open_sealed_key(pem, &phrase("right")).unwrap_err(), no_form(), "{pem:?}");
    }
    let within = |text: usize| format!("{}\n{}", "x".repeat(text), cheap(&mut Count(9)));
    assert!(open_sealed_key(&within(5_000), &phrase("right")).is_ok(), "text before it is no part of it");
    let long = open_sealed_key(&within(FILE_BYTES_MAX), &phrase("right")).unwrap_err();
    assert!(matches!(long, SealedKeyError::LocalForm(why) if why.contains("longer")));
}
