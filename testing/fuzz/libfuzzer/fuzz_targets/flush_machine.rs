#![no_main]

folkmoot_libfuzzer::target!(flush_machine);
