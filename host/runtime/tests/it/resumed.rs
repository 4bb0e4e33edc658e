//! A machine that is resumed from a snapshot: nothing leaves any more under the keys in memory.

use crate::engine::{Heard, bench_on};
use folkmoot_runtime::{Generation, RuntimeError};

/// The kernel's file, with this number of disruptions.
fn file(number: u8) -> Vec<u8> {
    let mut bytes = vec![0; 4096];
    bytes[..4].copy_from_slice(b"VCLK");
    bytes[16] = number;
    bytes
}

#[tokio::test]
async fn a_member_on_a_machine_that_was_resumed_stops_before_it_sends() {
    let path = std::env::temp_dir().join(format!("folkmoot-resumed-{}", std::process::id()));
    for watched in [true, false] {
        std::fs::write(&path, file(1)).unwrap();
        let generation = Generation::of(if watched { &path } else { "/nowhere".as_ref() });
        let mut bench = bench_on("resumed", generation);
        let heard = |text: &'static str| Some(Heard::Payload(text.into()));
        bench.datagrams.send("before".into()).await.unwrap();
        assert_eq!(bench.running.next().await.unwrap(), heard("before"));
        std::fs::write(&path, file(2)).unwrap();
        bench.datagrams.send("after".into()).await.unwrap();
        let next = bench.running.next().await;
        if watched {
            assert!(matches!(next, Err(RuntimeError::LocalResumed)), "{next:?}");
        } else {
            assert_eq!(next.unwrap(), heard("after"), "where the kernel shows nothing");
            bench.running.stop().await.unwrap();
        }
        let said = if watched { vec!["before"] } else { vec!["before", "after"] };
        let sent: Vec<_> = bench.sent.lock().unwrap().iter().map(|(bytes, _)| bytes.clone()).collect();
        assert_eq!(sent, said);
    }
    std::fs::remove_file(&path).unwrap();
}
