#![no_main]

folkmoot_libfuzzer::target!(node_sync);
