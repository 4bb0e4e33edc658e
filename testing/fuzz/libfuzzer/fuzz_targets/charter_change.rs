#![no_main]

folkmoot_libfuzzer::target!(charter_change);
