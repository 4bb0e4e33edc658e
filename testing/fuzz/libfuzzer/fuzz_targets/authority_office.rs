#![no_main]

folkmoot_libfuzzer::target!(authority_office);
