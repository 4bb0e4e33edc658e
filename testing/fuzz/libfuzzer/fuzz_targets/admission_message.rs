#![no_main]

folkmoot_libfuzzer::target!(admission_message);
