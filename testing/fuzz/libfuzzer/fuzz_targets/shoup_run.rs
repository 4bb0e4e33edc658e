#![no_main]

folkmoot_libfuzzer::target!(shoup_run);
