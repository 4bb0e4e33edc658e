#![no_main]

folkmoot_libfuzzer::target!(signed_message);
