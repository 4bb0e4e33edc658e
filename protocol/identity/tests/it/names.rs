//! Names that may be made, and names that look alike.

use folkmoot_base::MemberId;
use folkmoot_identity::names::{Apart, NameError, is_made, is_marked, made, told, told_apart, visible};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

fn id(first: u8) -> MemberId {
    let mut id = [7; 32];
    id[0] = first;
    MemberId(id)
}

fn told_all(names: &[&str]) -> Vec<String> {
    let people = names.iter().enumerate().map(|(at, name)| (id(u8::try_from(at).unwrap()), *name));
    told(people).into_values().collect()
}

#[test]
fn id_90_names_follow_rfc_8265() {
    for name in ["anna", "Anna Maria", "grüß", "анна", "日本", "dora-2", "o'brien", "anna.b@home", "ሰላም"]
    {
        assert_eq!(made(name).as_deref(), Ok(name));
        assert_eq!(is_made(name), Ok(()));
    }
    // One form: composed, and of ordinary width.
    assert_eq!(made("gru\u{308}n").as_deref(), Ok("grün"));
    assert_eq!(made("ａｎｎａ").as_deref(), Ok("anna"));
    assert_eq!(is_made("ａｎｎａ"), Err(NameError::Spelling("anna".into())));
}

#[test]
fn id_90_what_cannot_be_seen_or_stands_between_names_is_in_none() {
    let hidden =
        ["an\u{200d}na", "an\u{200b}na", "anna\u{202e}", "an\u{ad}na", "\u{feff}anna", "anna\u{fe0f}"];
    let blank = ["", " ", "   ", "\u{a0}", "\u{2003}", "\u{3164}", "\u{2800}", "anna ", " anna", "an  na"];
    let between = ["anna, ben", "anna:2", "anna (c7836d03)", "anna≈c7836d03", "a\"b", "a\nb", "👋", "a/b"];
    for name in hidden.iter().chain(&blank).chain(&between) {
        assert!(made(name).is_err(), "{name:?}");
    }
    let why = made("an\u{200d}na").unwrap_err().to_string();
    assert!(why.contains("U+200D") && !why.contains('\u{200d}'), "{why}");
    assert!(made("anna, ben").unwrap_err().to_string().contains("U+002C (,)"));
    assert_eq!(made("אa"), Err(NameError::Direction));
}

#[test]
fn id_90_few_combining_marks_stand_on_a_letter_and_none_before() {
    for name in ["q\u{323}\u{32d}\u{301}\u{308}", "นี่", "क्षि", "anna q\u{301}\u{301}\u{301}\u{301}b\u{301}"]
    {
        assert_eq!(is_made(name), Ok(()), "{name:?}");
    }
    for name in [
        "q\u{323}\u{32d}\u{301}\u{308}\u{304}",
        "anna q\u{301}\u{301}\u{301}\u{301}\u{301}",
        "\u{301}anna",
        "anna \u{301}ben",
        "\u{301}",
        "\u{93f}क",
    ] {
        assert_eq!(made(name), Err(NameError::Marks), "{name:?}");
    }
}

#[test]
fn id_91_names_that_look_alike_have_a_mark_and_their_keys_digits() {
    for (one, other) in [
        ("anna", "anna"),
        ("anna", "Anna"),
        ("anna", "аnnа"),
        ("anna", "an\u{200d}na"),
        ("Ivan", "lvan"),
        ("b0b", "bob"),
        ("bernd", "bemd"),
        ("anna maria", "anna\u{a0}maria"),
    ] {
        let told = told_all(&[one, "dora", other]);
        assert!(is_marked(&told[0]) && is_marked(&told[2]) && told[1] == "dora", "{told:?}");
        assert!(told[0].ends_with("≈00070707") && told[2].ends_with("≈02070707"), "{told:?}");
        assert_ne!(told[0], told[2]);
        assert!(told.iter().all(|name| visible(name) == *name));
    }
    assert_eq!(told_all(&["anna", "ben", "anne"]), ["anna", "ben", "anne"]);
}

#[test]
fn id_91_a_name_that_could_not_be_made_is_marked_even_alone() {
    assert_eq!(told_all(&["an\u{200d}na"]), ["an\u{fffd}na≈00070707"]);
    assert_eq!(told_all(&["anna, ben"]), ["anna, ben≈00070707"]);
    assert_eq!(told_all(&["   "]), ["≈00070707"]);
    // Nobody writes another's mark into its own name.
    assert_eq!(told_all(&["anna≈ffffffff"]), ["anna\u{fffd}ffffffff≈00070707"]);
}

#[test]
fn id_91_keys_that_begin_alike_are_told_by_more_digits() {
    let mut other = id(1);
    other.0[6] = 8;
    let told = told([(id(1), "anna"), (other, "anna")]);
    assert_eq!(told[&id(1)], "anna≈01070707070707");
    assert_eq!(told[&other], "anna≈01070707070708");
}

fn none() -> BTreeSet<MemberId> {
    BTreeSet::new()
}

fn apart<'a>(
    people: impl IntoIterator<Item = (MemberId, &'a str)>,
    former: &BTreeMap<MemberId, MemberId>,
    unasked: &BTreeSet<MemberId>,
) -> BTreeMap<MemberId, String> {
    told_apart(people, Apart { former, unasked, gone: &none(), asking: &none() })
}

/// Cleo lost her disk, was expelled, and is a member again with another key.
#[test]
fn id_91_who_is_gone_marks_no_member_and_everybody_who_asks_to_come_in() {
    let people = [(id(1), "cleo"), (id(2), "Cleo"), (id(3), "cleo"), (id(4), "ben")];
    let (gone, asking): (BTreeSet<_>, BTreeSet<_>) = ([id(1), id(4)].into(), [id(3)].into());
    let told = |people: &[(MemberId, &'static str)], asking: &BTreeSet<MemberId>| {
        let (former, unasked) = (BTreeMap::new(), none());
        told_apart(people.to_vec(), Apart { former: &former, unasked: &unasked, gone: &gone, asking })
    };
    let one = told(&people[..2], &none());
    assert_eq!((one[&id(2)].as_str(), one[&id(1)].as_str()), ("Cleo", "cleo≈01070707 (no longer a member)"));
    assert_eq!(told(&people[3..], &none())[&id(4)], "ben", "nobody else is called like that");
    let asks = told(&[people[0], people[2]], &asking);
    assert_eq!(asks[&id(3)], "cleo≈03070707", "nobody has voted for that yet");
    let both = told(&people, &asking);
    assert_eq!((both[&id(2)].as_str(), both[&id(3)].as_str()), ("Cleo≈02070707", "cleo≈03070707"));
}

#[test]
fn id_89_a_former_key_is_told_as_one_and_marks_nobody() {
    let people = || [(id(1), "anna"), (id(2), "anna"), (id(3), "ben")];
    let told = apart(people(), &[(id(1), id(2))].into(), &none());
    assert_eq!(told[&id(2)], "anna");
    assert_eq!(told[&id(1)], "anna≈01070707 (former key)");
    assert_eq!(told[&id(3)], "ben");
    // Of two, and of one that nobody knows by its own name.
    let told = apart(people(), &[(id(1), id(2)), (id(4), id(2))].into(), &none());
    assert_eq!(
        (told[&id(1)].as_str(), told[&id(4)].as_str()),
        ("anna≈01070707 (former key)", "anna≈04070707 (former key)")
    );
    // And where nobody knows who has its place now, by its own.
    let told = apart([(id(1), "an≈na")], &[(id(1), id(9))].into(), &none());
    assert_eq!(told[&id(1)], "an\u{fffd}na≈01070707 (former key)");
}

/// Somebody else of the same name has its mark, whatever it is called, and so has the member.
#[test]
fn id_89_no_name_that_looks_like_anothers_goes_unmarked_for_a_former_key() {
    let people = [(id(1), "anna"), (id(2), "anna"), (id(3), "аnna"), (id(4), "anna≈01070707 (former key)")];
    let told = apart(people, &[(id(1), id(2))].into(), &none());
    assert_eq!(told[&id(2)], "anna≈02070707");
    assert_eq!(told[&id(3)], "аnna≈03070707");
    assert_eq!(told[&id(1)], "anna≈01070707 (former key)");
    assert!(!told[&id(4)].starts_with("anna≈0"), "{}", told[&id(4)]);
    assert_eq!(told.values().collect::<BTreeSet<_>>().len(), 4);
}

/// A key for which nobody asks any more has its mark, whatever it is called, and marks nobody.
#[test]
fn id_89_a_key_that_nobody_asks_for_is_told_as_one_and_marks_nobody() {
    let people = [(id(1), "anna"), (id(2), "anna"), (id(3), "аnna"), (id(4), "ben"), (id(5), "anna")];
    let told = apart(people, &[(id(5), id(1))].into(), &[id(2), id(3), id(4), id(9)].into());
    let of = |which| told[&id(which)].as_str();
    assert_eq!((of(1), of(5)), ("anna", "anna≈05070707 (former key)"));
    assert_eq!((of(2), of(3)), ("anna≈02070707 (not admitted)", "аnna≈03070707 (not admitted)"));
    assert_eq!(of(4), "ben≈04070707 (not admitted)");
    assert!(!told.contains_key(&id(9)));
}

proptest! {
    #[test]
    fn id_91_no_two_are_told_alike(names in proptest::collection::vec("[aаɑ\u{200d} ,≈0o]{0,4}", 1..8)) {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut told = told_all(&names);
        told.sort();
        let count = told.len();
        told.dedup();
        prop_assert_eq!(told.len(), count);
    }

    #[test]
    fn id_90_what_is_made_stays(name in "\\PC{1,12}") {
        if let Ok(made_name) = made(&name) {
            prop_assert_eq!(is_made(&made_name), Ok(()));
            prop_assert_eq!(visible(&made_name), made_name);
        }
    }
}
