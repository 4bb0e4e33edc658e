#![no_main]

folkmoot_libfuzzer::target!(ts_rsa_run);
