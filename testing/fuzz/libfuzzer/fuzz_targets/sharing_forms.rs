#![no_main]

folkmoot_libfuzzer::target!(sharing_forms);
