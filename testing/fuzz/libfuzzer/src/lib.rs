//! Each target is a function of `folkmoot_fuzz` under libFuzzer.

pub use folkmoot_fuzz;
pub use libfuzzer_sys;

/// Makes a target of the function with this name.
#[macro_export]
macro_rules! target {
    ($name:ident) => {
        $crate::libfuzzer_sys::fuzz_target!(|data: &[u8]| $crate::folkmoot_fuzz::$name(data));
    };
}
