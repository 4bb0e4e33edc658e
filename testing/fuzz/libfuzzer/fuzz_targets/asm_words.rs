#![no_main]

folkmoot_libfuzzer::target!(asm_words);
