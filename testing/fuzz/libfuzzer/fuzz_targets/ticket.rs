#![no_main]

folkmoot_libfuzzer::target!(ticket);
