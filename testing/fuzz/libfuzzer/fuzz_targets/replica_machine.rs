#![no_main]

folkmoot_libfuzzer::target!(replica_machine);
