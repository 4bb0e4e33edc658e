#![no_main]

folkmoot_libfuzzer::target!(stair_frames);
