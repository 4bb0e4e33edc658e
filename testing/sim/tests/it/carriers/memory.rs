//! A carrier never has a group's key. The whole memory of a process that carries two groups is
//! searched for every key that their members have had, and for what they said.

use super::net::Moot;
use folkmoot_base::{Entropy as _, Service};
use folkmoot_member::Command;
use folkmoot_sim::rng::Rng;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};

/// Bytes read at once.
const WINDOW: usize = 4 * 1024 * 1024;

/// Which of these byte strings are anywhere in the memory of a process, and how many bytes of it
/// were read.
fn search(process: u32, wanted: &[Vec<u8>]) -> (BTreeSet<usize>, u64) {
    let maps = std::fs::read_to_string(format!("/proc/{process}/maps")).unwrap();
    let mut memory = File::open(format!("/proc/{process}/mem")).unwrap();
    let (mut found, mut read) = (BTreeSet::new(), 0);
    let longest = wanted.iter().map(Vec::len).max().unwrap();
    let firsts: BTreeSet<u8> = wanted.iter().map(|bytes| bytes[0]).collect();
    for line in maps.lines() {
        let (range, rest) = line.split_once(' ').unwrap();
        let (from, to) = range.split_once('-').unwrap();
        let [from, to] = [from, to].map(|text| u64::from_str_radix(text, 16).unwrap());
        if !rest.starts_with('r') || rest.contains("[v") {
            continue;
        }
        let mut at = from;
        let mut window = Vec::new();
        while at < to {
            let length = usize::try_from(to - at).unwrap().min(WINDOW);
            let mut bytes = vec![0; length];
            memory.seek(SeekFrom::Start(at)).unwrap();
            // Whatever cannot be read has no memory behind it.
            if memory.read_exact(&mut bytes).is_err() {
                break;
            }
            window.extend_from_slice(&bytes);
            look(&window, wanted, &firsts, &mut found);
            window.drain(..window.len().saturating_sub(longest));
            at += length as u64;
            read += length as u64;
        }
    }
    (found, read)
}

fn look(window: &[u8], wanted: &[Vec<u8>], firsts: &BTreeSet<u8>, found: &mut BTreeSet<usize>) {
    let mut begins = [false; 256];
    firsts.iter().for_each(|first| begins[usize::from(*first)] = true);
    for (at, byte) in window.iter().enumerate() {
        if begins[usize::from(*byte)] {
            let here = |bytes: &Vec<u8>| window[at..].starts_with(bytes);
            found.extend(wanted.iter().enumerate().filter(|(_, bytes)| here(bytes)).map(|(place, _)| place));
        }
    }
}

#[test]
fn a_carriers_memory_holds_no_key_of_a_group_that_it_carries() {
    let seats = [("anna", 0), ("ben", 1), ("dora", 0), ("emil", 1)];
    let groups: [(&str, &[&str]); 2] = [("alpha", &["anna", "ben"]), ("beta", &["dora", "emil"])];
    let mut moot = Moot::with_remote(4, &groups, &seats);
    moot.join_all();
    let both = |moot: &Moot| moot.share_key(&["anna", "ben"]) && moot.share_key(&["dora", "emil"]);
    moot.until(10, "keys", both);
    let (first, group) = (moot.epoch("anna"), moot.group("alpha"));
    moot.command("anna", Command::Refresh { group });
    moot.until(10, "a new key", |moot| moot.epoch("anna") != first && both(moot));
    // Drawn, since both processes have the same program, and so its words.
    let mut drawn = [0; 16];
    Rng::new(4, "text", 0).fill(&mut drawn);
    let text = &drawn.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    moot.send("ben", Service::Safe, text);
    moot.send("dora", Service::Fifo, text);
    moot.run(2_000);
    assert!(["anna", "ben", "dora", "emil"].iter().all(|who| moot.heard(who) == [text.as_str()]));

    let keys: BTreeSet<[u8; 32]> = moot.keys().into_iter().collect();
    assert!(keys.len() >= 3, "two of the one group, one of the other: {}", keys.len());
    let mut wanted: Vec<Vec<u8>> = keys.iter().map(|key| key.to_vec()).collect();
    wanted.push(text.as_bytes().to_vec());
    let secrets = wanted.len();
    wanted.push(group.0.to_vec());
    let process = moot.remote().process();
    let (found, read) = search(process, &wanted);
    // That it carries them is there to be read: the search reads what it should.
    assert_eq!(found, [secrets].into(), "of {secrets} secrets, in {read} bytes");
    assert!(read > 1024 * 1024, "{read}");

    // The members' own process has them, and so has a carrier that is handed one.
    let (found, _) = search(std::process::id(), &wanted);
    assert_eq!(found.len(), wanted.len());
    let planted = wanted[0].clone();
    moot.remote().plant(&planted);
    let (found, _) = search(process, &wanted);
    assert_eq!(found, [0, secrets].into(), "a key that it has is found");
}
