#![no_main]

folkmoot_libfuzzer::target!(transcript_file);
