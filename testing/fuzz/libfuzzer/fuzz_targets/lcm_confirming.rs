#![no_main]

folkmoot_libfuzzer::target!(lcm_confirming);
