//! Any bytes are a program or have errors, each at a place of the text.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sil::imports::NoFiles;

fuzz_target!(|bytes: &[u8]| {
    let loaded = sil::load::load("fuzzed.sil", bytes.to_vec(), &NoFiles);
    assert_eq!(loaded.program.is_none(), loaded.has_errors());
    for finding in &loaded.diagnostics {
        let spans = finding.related.iter().map(|(span, _)| *span).chain([finding.span]);
        for span in spans {
            assert!(loaded.sources.range(span).is_some() && span.start <= span.end);
            assert!(loaded.sources.text(span).is_some(), "no text at {span:?}");
        }
        sil::render::Message::of(&loaded.sources, finding);
    }
});
