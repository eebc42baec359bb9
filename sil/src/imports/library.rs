//! The standard library: the files that `import <…>` finds without any file system.

/// Returns the text of the library file `path`, such as `decreases/int.vpr`.
pub fn text(path: &str) -> Option<&'static str> {
    Some(match path {
        "adt/contains.vpr" => include_str!("../../stdlib/adt/contains.vpr"),
        "adt/derives.vpr" => include_str!("../../stdlib/adt/derives.vpr"),
        "decreases/all.vpr" => include_str!("../../stdlib/decreases/all.vpr"),
        "decreases/bool.vpr" => include_str!("../../stdlib/decreases/bool.vpr"),
        "decreases/declaration.vpr" => include_str!("../../stdlib/decreases/declaration.vpr"),
        "decreases/int.vpr" => include_str!("../../stdlib/decreases/int.vpr"),
        "decreases/multiset.vpr" => include_str!("../../stdlib/decreases/multiset.vpr"),
        "decreases/perm.vpr" => include_str!("../../stdlib/decreases/perm.vpr"),
        "decreases/predicate_instance.vpr" => {
            include_str!("../../stdlib/decreases/predicate_instance.vpr")
        }
        "decreases/predicate_instance_nested.vpr" => {
            include_str!("../../stdlib/decreases/predicate_instance_nested.vpr")
        }
        "decreases/rational.vpr" => include_str!("../../stdlib/decreases/rational.vpr"),
        "decreases/ref.vpr" => include_str!("../../stdlib/decreases/ref.vpr"),
        "decreases/seq.vpr" => include_str!("../../stdlib/decreases/seq.vpr"),
        "decreases/set.vpr" => include_str!("../../stdlib/decreases/set.vpr"),
        "permission/epsilon.vpr" => include_str!("../../stdlib/permission/epsilon.vpr"),
        "predicateinstance/pi.vpr" => include_str!("../../stdlib/predicateinstance/pi.vpr"),
        _ => return None,
    })
}

/// Tells whether a source file has the name that the loader gives files of the library: their path
/// in angle brackets.
pub fn is_name(name: &str) -> bool {
    let path = name.strip_prefix('<').and_then(|rest| rest.strip_suffix('>'));
    path.and_then(text).is_some()
}
