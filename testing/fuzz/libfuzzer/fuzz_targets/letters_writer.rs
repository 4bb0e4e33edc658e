#![no_main]

folkmoot_libfuzzer::target!(letters_writer);
