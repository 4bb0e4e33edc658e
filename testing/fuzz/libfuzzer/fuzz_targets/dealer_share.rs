#![no_main]

folkmoot_libfuzzer::target!(dealer_share);
