#![no_main]

folkmoot_libfuzzer::target!(identity_pem);
