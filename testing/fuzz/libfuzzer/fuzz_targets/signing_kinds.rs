#![no_main]

folkmoot_libfuzzer::target!(signing_kinds);
