#![no_main]

folkmoot_libfuzzer::target!(csr);
