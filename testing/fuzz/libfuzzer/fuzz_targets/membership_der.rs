#![no_main]

folkmoot_libfuzzer::target!(membership_der);
