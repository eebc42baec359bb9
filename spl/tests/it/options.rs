//! Options of a program.

use spl::Options;
use spl::options::OptionError;

#[test]
fn flags_add_up() {
    let mut options = Options::default();
    assert_eq!(options.note("-symbexec-v2 -termgen 3"), Ok(Vec::new()));
    assert_eq!(options.note("-abspreds -odd"), Ok(vec!["-odd".to_owned()]));
    assert!(options.field_dialect && options.abstract_predicates && !options.bit_vectors);
    assert_eq!(options.note("symbexec"), Err(OptionError::NotAFlag("symbexec".to_owned())));
}
