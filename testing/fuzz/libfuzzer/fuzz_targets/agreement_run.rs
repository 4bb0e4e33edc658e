#![no_main]

folkmoot_libfuzzer::target!(agreement_run);
