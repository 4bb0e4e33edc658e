#![no_main]

folkmoot_libfuzzer::target!(stored_state);
