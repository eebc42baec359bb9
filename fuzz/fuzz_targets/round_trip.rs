//! Printed programs are read back, and print the same.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sil::imports::NoFiles;
use sil::print::Form;

fuzz_target!(|bytes: &[u8]| {
    let loaded = sil::load::load("fuzzed.sil", bytes.to_vec(), &NoFiles);
    let Some(program) = &loaded.program else { return };
    for form in [Form::Structured, Form::Graph] {
        let text = sil::print::program(program, form);
        let again = sil::load::load("printed.sil", text.as_bytes().to_vec(), &NoFiles);
        let Some(again) = &again.program else {
            let finding = again.diagnostics.iter().find(|finding| !finding.code.is_warning());
            panic!("the {form:?} text is not accepted: {finding:?}\n{text}");
        };
        assert_eq!(text, sil::print::program(again, form), "{form:?}");
    }
});
