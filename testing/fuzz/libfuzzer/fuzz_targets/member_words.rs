#![no_main]

folkmoot_libfuzzer::target!(member_words);
