#![no_main]

folkmoot_libfuzzer::target!(asm_forms);
