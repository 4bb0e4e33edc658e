#![no_main]

folkmoot_libfuzzer::target!(embedded_pair);
