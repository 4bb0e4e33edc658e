//! A member whose network swallows long datagrams: the others are told that it lacks what was sent,
//! and that it has it once the network is whole.

use crate::longest::{folders, open};
use folkmoot::{Event, Folkmoot, Service};
use std::path::PathBuf;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);

/// The next event of which `wanted` makes something.
pub(crate) async fn hear<T>(moot: &mut Folkmoot, wanted: impl Fn(&Event) -> Option<T>) -> T {
    let heard = tokio::time::timeout(LIMIT, async {
        loop {
            if let Some(found) = wanted(&moot.next().await.unwrap().unwrap()) {
                return found;
            }
        }
    });
    heard.await.unwrap_or_else(|_| panic!("{} heard nothing of it", moot.name()))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mem_10_who_lacks_what_was_sent_is_named_until_it_has_it() {
    let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("lacking-{}", std::process::id()));
    let folders = folders(&root, &["anna", "ben", "cleo"]);
    let mut anna = open(folders[0].clone(), &[]).await;
    let at = [anna.locator()];
    let (mut ben, mut cleo) = (open(folders[1].clone(), &at).await, open(folders[2].clone(), &at).await);
    let session = anna.join().await.unwrap();
    for moot in [&ben, &cleo] {
        moot.join().await.unwrap();
    }
    let three =
        |event: &Event| matches!(event, Event::View { members, .. } if members.len() == 3).then_some(());
    for moot in [&mut anna, &mut ben, &mut cleo] {
        hear(moot, three).await;
    }

    // Cleo gets what is short, so the token goes round: nobody is silent.
    cleo.faults().longest(600);
    session.send(Service::Agreed, vec![7; 1_300]).await.unwrap();
    let named = |event: &Event| match event {
        Event::Lacking { node } => Some(*node),
        _ => None,
    };
    let lacking = [hear(&mut anna, named).await, hear(&mut ben, named).await];
    cleo.faults().heal();
    assert_eq!(lacking, [cleo.me().node(); 2]);

    let message = |event: &Event| match event {
        Event::Message { payload, .. } => Some(payload.len()),
        _ => None,
    };
    assert_eq!(hear(&mut cleo, message).await, 1_300);
    // Either it has caught up, or a new configuration has taken the word back.
    let over =
        |event: &Event| matches!(event, Event::CaughtUp { .. } | Event::Configuration { .. }).then_some(());
    hear(&mut anna, over).await;
    assert_eq!(anna.status().await.unwrap().lacking, None);
    drop(std::fs::remove_dir_all(root));
}
