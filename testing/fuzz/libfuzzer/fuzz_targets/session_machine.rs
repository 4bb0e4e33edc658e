#![no_main]

folkmoot_libfuzzer::target!(session_machine);
