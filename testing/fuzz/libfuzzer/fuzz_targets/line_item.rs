#![no_main]

folkmoot_libfuzzer::target!(line_item);
