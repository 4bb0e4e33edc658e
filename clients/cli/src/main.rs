//! `folkmoot`: calls the library beside this file, which is the whole program.

#[cfg(not(debug_assertions))]
const _: () = assert!(
    !folkmoot_base::danger::ENABLED,
    "This build would contain the mutants' switches. Build the program apart from the simulator and the tests: \
     cargo build --release -p folkmoot-cli"
);

fn main() -> std::process::ExitCode {
    folkmoot_cli::main(std::env::args_os())
}
