#![no_main]

folkmoot_libfuzzer::target!(frost_run);
