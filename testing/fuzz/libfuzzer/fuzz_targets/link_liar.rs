#![no_main]

folkmoot_libfuzzer::target!(link_liar);
