#![no_main]

folkmoot_libfuzzer::target!(group_ordered);
