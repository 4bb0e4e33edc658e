//! The same where others sign certificates: the members with the group's key, of which anna holds a
//! share, or an authority.
//!
//! ```text
//! frost     anna, ben, cleo, dora; cleo is away    anna rotates; her new key signs with dora alone, so it has a share
//! plain     the same, with an authority            it signs the new key's certificate, after the votes
//! ```

use super::cast::{Cast, copied};

#[test]
fn id_86_a_rotated_key_in_a_group_with_a_shared_key_gets_a_share() {
    let mut cast = Cast::new("frost", false, "ed25519");
    // The group's key is there.
    cast.until_decided(1);
    let proof = cast.proof();
    let stolen = copied(&cast.all[0].state, cast.place.path().join("stolen"));
    let (old, new, number) = cast.rotates("rsa-2048");
    cast.old_is_nobody(stolen, &old, &new);
    // New shares, without the old key: then two sign, and one of them is anna.
    cast.until_decided(number + 1);
    cast.proves(&proof);
    cast.all[2].kill();
    cast.admits_erik([0, 3]);
}

#[test]
fn id_86_an_authority_signs_the_certificate_of_a_rotated_key() {
    let mut cast = Cast::new("plain", true, "rsa-2048");
    let proof = cast.proof();
    let stolen = copied(&cast.all[0].state, cast.place.path().join("stolen"));
    let (old, new, _) = cast.rotates("p256");
    cast.old_is_nobody(stolen, &old, &new);
    let status = cast.authority.as_ref().unwrap().good(&["authority", "status"]);
    assert_eq!(status["issued"], 1);
    cast.admits_erik([0, 3]);
    cast.proves(&proof);
}
