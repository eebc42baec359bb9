//! `--cache URL`: a server's answers count if they are signed, and cost little where they are none.

use std::fs;
use std::time::Duration;

use sil_tests::binaries::{Run, Scratch};
use sil_tests::sample::{cached, timeless};
use sil_tests::server::{Manner, Server};

const PROGRAM: &str = "method good(x: Int) requires x > 0 { assert x != 0 }
method bad(x: Int) { assert x != 0 }
";
const OTHER: &str = "method other(x: Int) { assert x < 1 ==> x < 2 }\n";
const MEMBERS: [&str; 3] = ["good", "bad", "other"];
const NONE: [&str; 0] = [];

/// With keys of two writers.
fn programs() -> Scratch {
    let scratch = Scratch::new(&[("a/one.vpr", PROGRAM), ("a/two.vpr", OTHER)]);
    for name in ["ci", "stranger"] {
        let made = scratch.silicon(&["cache", "keygen", name]);
        assert_eq!(made.code, Some(0), "{}", made.stderr);
    }
    scratch
}

/// On one thread, so that one process asks the server.
fn verify(scratch: &Scratch, more: &[&str]) -> Run {
    scratch.silicon(&[&["a", "-j1", "--message-format", "json"], more].concat())
}

fn writes(scratch: &Scratch, url: &str, key: &str) -> Run {
    verify(scratch, &["--cache", url, "--cache-key", key])
}

fn reads(scratch: &Scratch, url: &str) -> Run {
    verify(scratch, &["--cache", url, "--cache-trust", "ci.pub"])
}

/// Verifies nothing, and so waits for the server on a busy machine, too.
fn only_reads(scratch: &Scratch, url: &str) -> Run {
    verify(scratch, &["--cache", url, "--cache-trust", "ci.pub", "--cache-only"])
}

/// All that was found, but for times and for who has done the work.
fn found(run: &Run) -> Vec<serde_json::Value> {
    let mut lines = timeless(run);
    for line in &mut lines {
        line.as_object_mut().expect("each line is an object").remove("cached");
    }
    lines
}

#[test]
fn answers_of_the_believed_are_used() {
    let (scratch, server) = (programs(), Server::start());
    let fresh = verify(&scratch, &[]);
    let cold = writes(&scratch, &server.url(), "ci");
    assert_eq!((cached(&cold), cold.stderr.as_str()), (Vec::new(), ""));
    assert_eq!(server.files().len(), MEMBERS.len());
    let warm = only_reads(&scratch, &server.url());
    assert_eq!((cached(&warm), warm.code), (MEMBERS.map(str::to_owned).to_vec(), Some(1)));
    assert_eq!((found(&warm), found(&cold)), (found(&fresh), found(&fresh)));
    // An edit concerns one member, and who only reads does not write.
    let text = PROGRAM.replace("x > 0", "x > 1");
    fs::write(scratch.path().join("a/one.vpr"), text).expect("it can be written");
    let edited = only_reads(&scratch, &server.url());
    assert_eq!((cached(&edited).join(" "), edited.code), ("bad other".to_owned(), Some(1)));
    assert_eq!(edited.stdout.matches("the cache has no answer").count(), 1);
    assert_eq!(reads(&scratch, &server.url()).code, Some(1));
    assert_eq!(server.files().len(), MEMBERS.len());
}

/// Unsigned, of strangers, cut, of other questions, of earlier texts: all are no answers, and a
/// writer repairs them.
#[test]
fn answers_of_nobody_are_none() {
    let (scratch, server) = (programs(), Server::start());
    writes(&scratch, &server.url(), "ci");
    let good = server.files().clone();
    writes(&scratch, &server.url(), "stranger");
    let foreign = server.files().clone();
    assert_ne!(good, foreign);
    let fresh = found(&verify(&scratch, &[]));
    let check = |what: &str| {
        let run = reads(&scratch, &server.url());
        assert_eq!(cached(&run), NONE, "{what}");
        assert_eq!(found(&run), fresh, "{what}");
    };
    check("of a stranger");
    // The key and the signature are 96 bytes.
    let alter = |change: &dyn Fn(&mut Vec<u8>)| {
        server.files().clone_from(&good);
        server.files().values_mut().for_each(change);
    };
    alter(&|bytes| drop(bytes.drain(..96)));
    check("unsigned");
    alter(&|bytes| *bytes.last_mut().expect("it is not empty") ^= 1);
    check("altered");
    alter(&|bytes| bytes.truncate(bytes.len() / 2));
    check("cut");
    alter(&|bytes| bytes.resize(20 << 20, 0));
    check("large");
    alter(&Vec::clear);
    check("empty");
    for step in 1..MEMBERS.len() {
        let contents: Vec<_> = good.values().cycle().skip(step).take(MEMBERS.len()).collect();
        for (file, other) in server.files().values_mut().zip(contents) {
            file.clone_from(other);
        }
        check("swapped");
    }
    // An earlier text was verified, which is no reason to call this one so.
    let weak = PROGRAM.replace("x > 0", "x >= 0");
    fs::write(scratch.path().join("a/one.vpr"), weak).expect("it can be written");
    server.files().clear();
    writes(&scratch, &server.url(), "ci");
    let names: Vec<String> = server.files().keys().cloned().collect();
    let old: Vec<_> = good.values().collect();
    for (index, name) in names.iter().enumerate() {
        for bytes in &old {
            server.files().insert(name.clone(), (*bytes).clone());
            let run = reads(&scratch, &server.url());
            assert_eq!(run.stdout.matches("\"verdict\":\"verified\",\"name\"").count(), 0);
            let failed = run.stdout.matches("assert.failed:assertion.false").count();
            assert!(failed >= 2, "{index}: {}", run.stdout);
        }
    }
    // The last one may have come to its own name, if the edit does not concern its member.
    let is_own = |(name, bytes): &(&String, &Vec<u8>)| good.get(*name) == Some(*bytes);
    let own = server.files().iter().filter(is_own).count();
    assert_eq!(cached(&writes(&scratch, &server.url(), "ci")).len(), own);
    assert_eq!(cached(&only_reads(&scratch, &server.url())).len(), MEMBERS.len());
}

#[test]
fn a_bad_server_is_not_asked_again() {
    let (scratch, server) = (programs(), Server::start());
    writes(&scratch, &server.url(), "ci");
    server.requests();
    let fresh = found(&verify(&scratch, &[]));
    for manner in
        [Manner::Silent, Manner::Slow(Duration::from_secs(2)), Manner::Failing, Manner::Cutting]
    {
        server.behave(manner);
        let run = reads(&scratch, &server.url());
        assert_eq!(found(&run), fresh, "{manner:?}");
        assert_eq!(cached(&run), NONE, "{manner:?}");
        let words = format!("note: the cache {} was not asked any more: ", server.url());
        assert_eq!(run.stderr.matches(&words).count(), 1, "{manner:?}: {}", run.stderr);
        // Only those of the first file, though some are repeated.
        let is_repeated = matches!(manner, Manner::Failing | Manner::Cutting);
        let requests = server.requests();
        assert!(requests == 2 || is_repeated && requests < 30, "{manner:?}: {requests}");
    }
    // Nobody is there.
    let nobody = "http://127.0.0.1:9/answers";
    let run = reads(&scratch, nobody);
    assert_eq!(found(&run), fresh);
    assert!(run.stderr.contains("was not asked any more"), "{}", run.stderr);
}

#[test]
fn a_server_that_takes_nothing_costs_only_the_answers() {
    let (scratch, server) = (programs(), Server::start());
    let fresh = found(&verify(&scratch, &[]));
    for (manner, is_told) in [(Manner::ReadOnly, true), (Manner::Forgetting, false)] {
        server.behave(manner);
        let run = writes(&scratch, &server.url(), "ci");
        assert_eq!((found(&run), cached(&run)), (fresh.clone(), Vec::new()));
        assert_eq!(run.stderr.contains("was not written to any more"), is_told, "{}", run.stderr);
        assert_eq!(server.files().len(), 0);
    }
}

#[test]
fn a_server_may_ask_for_a_password() {
    let (scratch, server) = (programs(), Server::start());
    server.behave(Manner::Locked);
    writes(&scratch, &server.url(), "ci");
    assert_eq!(server.files().len(), 0);
    let url = server.url_for("name:word");
    let run = writes(&scratch, &url, "ci");
    assert_eq!((server.files().len(), run.stderr.as_str()), (MEMBERS.len(), ""));
    assert_eq!(cached(&only_reads(&scratch, &url)), MEMBERS);
    assert_eq!(cached(&reads(&scratch, &server.url_for("name:other"))), NONE);
}

#[test]
fn nobody_is_believed_without_a_key() {
    let (scratch, server) = (programs(), Server::start());
    let run = verify(&scratch, &["--cache", &server.url()]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("have to be signed"), "{}", run.stderr);
    for url in ["ftp://example.org/x", "https://", "s3://"] {
        let run = reads(&scratch, url);
        assert_eq!(run.code, Some(2), "{url}: {}", run.stderr);
        assert!(run.stderr.contains("no cache in"), "{url}: {}", run.stderr);
    }
}

#[test]
fn a_file_names_the_url() {
    let (scratch, server) = (programs(), Server::start());
    writes(&scratch, &server.url(), "ci");
    let file = format!("cache = \"{}\"\ncache-trust = \"ci.pub\"\n", server.url());
    fs::write(scratch.path().join("silicon.toml"), file).expect("it can be written");
    assert_eq!(cached(&verify(&scratch, &["--cache-only"])), MEMBERS);
}
