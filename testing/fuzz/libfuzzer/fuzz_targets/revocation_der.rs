#![no_main]

folkmoot_libfuzzer::target!(revocation_der);
