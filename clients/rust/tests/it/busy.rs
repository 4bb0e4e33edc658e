//! A program that works for a while without waiting for anything, on the only thread of its
//! runtime.

use crate::lacking::hear;
use crate::longest::folders;
use folkmoot::{Event, Folkmoot, Options, Service};
use std::path::PathBuf;
use std::time::Duration;

/// Longer than a ring waits for a member.
const WORK: Duration = Duration::from_secs(2);

/// Anna and Ben in one view. Ben's member has a thread of its own.
async fn two(folders: &[PathBuf], own_thread: bool) -> [Folkmoot; 2] {
    let open = async |folder: &PathBuf, own_thread, at: &[folkmoot::Locator]| {
        let mut options = Options::new(folder).listen(([127, 0, 0, 1], 0));
        options.seeds = at.to_vec();
        options.own_thread = own_thread;
        Folkmoot::open_with(options).await.unwrap()
    };
    let mut anna = open(&folders[0], own_thread, &[]).await;
    let mut ben = open(&folders[1], true, &[anna.locator()]).await;
    let both =
        |event: &Event| matches!(event, Event::View { members, .. } if members.len() == 2).then_some(());
    for moot in [&mut anna, &mut ben] {
        moot.join().await.unwrap();
    }
    for moot in [&mut anna, &mut ben] {
        hear(moot, both).await;
    }
    [anna, ben]
}

/// Without the thread the others go on without it: that is what it is good for.
#[tokio::test(flavor = "current_thread")]
async fn a_member_with_a_thread_of_its_own_stays_while_its_program_works() {
    let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("busy-{}", std::process::id()));
    for own_thread in [true, false] {
        let folders = folders(&root.join(own_thread.to_string()), &["anna", "ben"]);
        let [anna, mut ben] = two(&folders, own_thread).await;
        std::thread::sleep(WORK);
        anna.join().await.unwrap().send(Service::Agreed, "done").await.unwrap();
        let first = |event: &Event| match event {
            Event::View { .. } => Some(false),
            Event::Message { .. } => Some(true),
            _ => None,
        };
        assert_eq!(hear(&mut ben, first).await, own_thread, "the view stands only if it has one");
    }
    drop(std::fs::remove_dir_all(root));
}
