#![no_main]

folkmoot_libfuzzer::target!(sealed_key);
