//! Writes the types of testing/lcm/types and of hard.lcm, as a user's build script does.

use folkmoot_lcm_gen::{Build, BuildError};

fn main() -> Result<(), BuildError> {
    let files = ["everything", "circle", "other", "plain", "lengths", "radix", "forms"];
    let build = files.iter().fold(Build::new(), |build, name| build.file(format!("../lcm/types/{name}.lcm")));
    let build = build.file("hard.lcm");
    // This crate has no need of the host's part.
    build.library("::folkmoot_pubsub::typed").compile().map(drop)
}
