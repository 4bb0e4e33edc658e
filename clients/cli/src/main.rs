//! `folkmoot`: the library beside this file is all of it.

fn main() -> std::process::ExitCode {
    folkmoot_cli::main(std::env::args_os())
}
