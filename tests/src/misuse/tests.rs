use super::*;

const LIMITS: Limits = Limits { starts: 4, seed: 1, steps: 2_000, patience: 500, visible: None };

const PROGRAM: &str = "class C {
  var x: int;
  var y: int;
  invariant acc(x);
  method writes() requires acc(y)
  {
    y := 1;
    assert y == 1;
    var z: int := y;
  }
  method locks() requires rd(mu) && waitlevel << mu
  {
    acquire this;
    x := x + 1;
    release this;
  }
  method other(c: C) requires c != null && acc(c.y) ensures acc(c.y) { c.y := 2; }
  method main() {
    var c := new C;
    fork t := c.writes();
    join t;
    share c;
  }
  method forks() { var c := new C; fork c.writes(); }
}";

#[test]
fn every_kind_of_misuse_is_planted_and_found() {
    let sites = sites("a.chalice", PROGRAM, LIMITS);
    for kind in Kind::ALL {
        assert!(sites.iter().any(|site| site.kind == kind), "{kind:?}");
    }
    for site in &sites {
        assert_eq!(judge("a.chalice", PROGRAM, site, LIMITS), Fate::Found, "{site}");
    }
}

#[test]
fn what_is_planted_elsewhere_is_missed() {
    let sites = sites("a.chalice", PROGRAM, LIMITS);
    let site = sites.iter().find(|site| site.kind == Kind::AssertFalse).expect("there is one");
    // The program itself has nothing wrong with it.
    let harmless = Site { edits: Vec::new(), ..site.clone() };
    assert_eq!(judge("a.chalice", PROGRAM, &harmless, LIMITS), Fate::Missed("passed".to_owned()));
    let ill_formed = Site { edits: vec![(0, 0, "class".to_owned())], ..site.clone() };
    assert_eq!(judge("a.chalice", PROGRAM, &ill_formed, LIMITS), Fate::Rejected);
}

/// Programs that run are misused at every fifth place, beginning with another one in each program.
#[test]
fn misuse_of_programs_that_run_is_found() {
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = cross_check::programs(&here.join("../examples/chalice"));
    files.extend(cross_check::programs(&here.join("../chalice-run/tests/programs/calls")));
    files.extend(cross_check::programs(&here.join("../chalice-run/tests/programs/threads")));
    let mut found = 0;
    for (number, path) in files.iter().enumerate() {
        let text = std::fs::read_to_string(path).expect("it can be read");
        let name = path.display().to_string();
        let sites = sites(&name, &text, LIMITS);
        for site in sites.iter().skip(number % 5).step_by(5) {
            match judge(&name, &text, site, LIMITS) {
                Fate::Found => found += 1,
                Fate::Missed(how) => panic!("{name}: {site}: {how}"),
                Fate::Rejected => {}
            }
        }
    }
    assert!(found >= 40, "{found}");
}
