#![no_main]

folkmoot_libfuzzer::target!(group_message);
