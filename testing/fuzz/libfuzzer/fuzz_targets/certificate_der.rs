#![no_main]

folkmoot_libfuzzer::target!(certificate_der);
