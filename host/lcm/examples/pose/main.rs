//! Poses of a robot, published and heard: `cargo run -p folkmoot-lcm --example pose`, or with
//! `-- --blocking` as a program without tokio does it.
//!
//! `lcm_types.rs` was written by `folkmoot lcm gen pose.lcm --out .`; a build script can do the
//! same.

use folkmoot_lcm::{Address, Bus, Capacity, Channel, Pattern, blocking};
use std::error::Error;

mod types {
    include!("lcm_types.rs");
}

use types::robot::PoseT;

/// How many are published.
const POSES: u32 = 10;

fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::var("LCM_DEFAULT_URL").unwrap_or("udpm://239.255.76.67:7667?ttl=0".into());
    let address = url.parse()?;
    if std::env::args().any(|word| word == "--blocking") {
        return in_turn(address);
    }
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(together(address))
}

fn pose(number: u32) -> PoseT {
    let position = [f64::from(number), 0.5, 0.0];
    PoseT {
        utime: i64::from(number) * 1_000,
        position,
        orientation: [1.0, 0.0, 0.0, 0.0],
        name: "anna".into(),
    }
}

async fn together(address: Address) -> Result<(), Box<dyn Error>> {
    let bus = Bus::join(address)?;
    bus.self_test().await?;
    let mut poses = bus.subscribe(Pattern::new("POSE")?, Capacity::default())?.typed::<PoseT>();
    for number in 0..POSES {
        bus.publish_typed(Channel::new("POSE")?, &pose(number)).await?;
        match poses.next().await {
            Some(Ok((heard, pose))) => {
                println!("{} at {:?}, {} missing", pose.name, pose.position, heard.missing)
            }
            // Somebody says other things on this channel.
            Some(Err(wrong)) => eprintln!("{wrong}"),
            None => break,
        }
    }
    Ok(())
}

fn in_turn(address: Address) -> Result<(), Box<dyn Error>> {
    let bus = blocking::Bus::join(address)?;
    bus.wait(bus.asynchronous().self_test())?;
    let mut poses = bus.subscribe(Pattern::new("POSE")?, Capacity::default())?.typed::<PoseT>();
    for number in 0..POSES {
        bus.publish_typed(Channel::new("POSE")?, &pose(number))?;
        match poses.next() {
            Some(Ok((heard, pose))) => {
                println!("{} at {:?}, {} missing", pose.name, pose.position, heard.missing)
            }
            Some(Err(wrong)) => eprintln!("{wrong}"),
            None => break,
        }
    }
    Ok(())
}
