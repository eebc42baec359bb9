//! How often Z3 instantiated each quantifier, read from the trace that it writes while it works.

use std::collections::BTreeMap;
use std::io::{self, BufRead};

use rustc_hash::FxHashMap;

/// Counts instances in a trace of Z3, by the quantifier's name.
///
/// Z3 names a quantifier once (`[mk-quant] #id name …`), a match of it when it is found
/// (`[new-match] match #id …`), and the match again when it becomes an instance (`[instance] match
/// …`). Z3's own quantifiers have ids with a prefix, and its own instances have no match. Neither
/// is counted. Ids are used again once a term is gone.
pub fn instances(trace: impl BufRead) -> io::Result<BTreeMap<String, u64>> {
    let mut names: FxHashMap<String, String> = FxHashMap::default();
    let mut matches: FxHashMap<String, String> = FxHashMap::default();
    let mut counts = BTreeMap::new();
    for line in trace.split(b'\n') {
        let line = line?;
        if !line.starts_with(b"[mk-quant]")
            && !line.starts_with(b"[new-match]")
            && !line.starts_with(b"[instance]")
        {
            continue;
        }
        let line = String::from_utf8_lossy(&line);
        let mut words = line.split_ascii_whitespace();
        let (Some(kind), Some(first)) = (words.next(), words.next()) else { continue };
        match (kind, words.next()) {
            ("[mk-quant]", Some(name)) if first.starts_with('#') => {
                names.insert(first.to_owned(), name.trim_matches('|').to_owned());
            }
            ("[new-match]", Some(quantifier)) => {
                if let Some(name) = names.get(quantifier) {
                    matches.insert(first.to_owned(), name.clone());
                }
            }
            ("[instance]", _) => {
                if let Some(name) = matches.get(first) {
                    *counts.entry(name.clone()).or_default() += 1;
                }
            }
            _ => {}
        }
    }
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::instances;

    #[test]
    fn instances_are_counted_by_name() {
        let trace = b"[mk-quant] datatype#6 constructor_accessor_axiom 2 datatype#3\n\
            [mk-quant] #7 quant@3.4 1 #5 #6\n\
            [mk-quant] #8 |qp.value| 1 #5 #6\n\
            [new-match] 0x10 #7 #5 #41 ; #83\n\
            [new-match] 0x20 #8 #5 #41 ; #83\n\
            [new-match] 0x30 #8 #5 #42 ; #83\n\
            [instance] 0x10 #28\n\
            [instance] 0 #29\n\
            [instance] 0x20 #30\n\
            [instance] 0x30 #31\n\
            [end-of-instance]\n";
        let counts = instances(&trace[..]).expect("readable");
        let expected = [("quant@3.4".to_owned(), 1), ("qp.value".to_owned(), 2)];
        assert_eq!(counts, expected.into());
    }
}
