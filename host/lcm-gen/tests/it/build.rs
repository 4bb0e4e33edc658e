//! Files are read and written.

use folkmoot_lcm_gen::{Build, BuildError, FILE_NAME};
use std::fs;
use std::path::PathBuf;

fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn types_are_written_once() {
    let folder = folder("types_are_written_once");
    let (file, out) = (folder.join("a.lcm"), folder.join("deep/out"));
    fs::write(&file, "package p; struct a { int8_t x; }").unwrap();
    let build = Build::new().file(&file).library("::somewhere::typed").out(&out);
    let written = build.compile().unwrap();
    assert_eq!(written, out.join(FILE_NAME));
    assert!(fs::read_to_string(&written).unwrap().contains("impl ::somewhere::typed::Typed for A {"));
    let time = || fs::metadata(&written).unwrap().modified().unwrap();
    let before = time();
    build.compile().unwrap();
    assert_eq!(time(), before, "what is the same is not written again");
}

#[test]
fn what_is_missing_is_named() {
    let folder = folder("what_is_missing_is_named");
    let error = Build::new().file(folder.join("none.lcm")).out(&folder).compile().unwrap_err();
    assert!(format!("{error:?}").contains("none.lcm: "), "{error}");
    assert!(matches!(error, BuildError::LocalFile { .. }));
    assert!(matches!(Build::new().compile().unwrap_err(), BuildError::LocalNowhere));
    let wrong = folder.join("wrong.lcm");
    fs::write(&wrong, "\n struct").unwrap();
    let error = Build::new().file(&wrong).out(&folder).compile().unwrap_err().to_string();
    assert!(error.starts_with(&format!("{}:2:2: ", wrong.display())), "{error}");
}

/// lcm-gen does not look at what is in a comment.
#[test]
fn a_comment_may_have_any_bytes() {
    let folder = folder("a_comment_may_have_any_bytes");
    let file = folder.join("a.lcm");
    fs::write(&file, b"struct a { double angle; // 0\xb0 is north\n}").unwrap();
    let written = fs::read_to_string(Build::new().file(&file).out(&folder).compile().unwrap()).unwrap();
    assert!(written.contains("/// 0\u{fffd} is north"), "{written}");
    fs::write(&file, b"struct a { double \xb0; }").unwrap();
    let error = Build::new().file(&file).out(&folder).compile().unwrap_err().to_string();
    assert!(error.contains("a.lcm:1:19: the character '\u{fffd}' has no meaning here"), "{error}");
}
