#![no_main]

folkmoot_libfuzzer::target!(base_codec);
