#![no_main]

folkmoot_libfuzzer::target!(attach_frames);
