#![no_main]

folkmoot_libfuzzer::target!(keying_envelope);
