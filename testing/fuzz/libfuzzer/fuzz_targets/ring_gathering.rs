#![no_main]

folkmoot_libfuzzer::target!(ring_gathering);
