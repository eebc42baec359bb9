//! States at the head of a loop as text, to come back to them.
//!
//! Entries between commas: the place of the loop, as `16:5`; variables, as `this=@1` or `s=%2,7,8`,
//! where `%2` says that two elements follow; what is held, as `@1.Cell.value=3:1/2` or
//! `@1.List.valid:rd`, an object by its number, class and field or predicate, with its value and
//! how much of it; and fields that had another value at the start of the method, as
//! `old:@1.Cell.value=4`. No character of it means something to a shell.

use std::fmt;

use crate::amount::Rational;
use crate::generate::ModelValue;

/// A field or predicate of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// The object, by a number that means something within one text only.
    pub object: u32,
    /// The name of its class.
    pub class: String,
    /// The name of the field or predicate.
    pub name: String,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "@{}.{}.{}", self.object, self.class, self.name)
    }
}

/// How much is held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Share {
    /// This part of all.
    Number(Rational),
    /// The read fraction of the method.
    Read,
}

/// A state at the head of a loop, by names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HeadText {
    /// Line and column of the loop.
    pub place: (usize, usize),
    /// Variables, `this` among them.
    pub variables: Vec<(String, ModelValue)>,
    /// The held permissions; fields have values.
    pub held: Vec<(Location, Share, Option<ModelValue>)>,
    /// The values of fields at the start of the method.
    pub old: Vec<(Location, ModelValue)>,
}

impl HeadText {
    /// Reads what is written by [`fmt::Display`](std::fmt::Display).
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(',');
        let (line, column) = parts.next()?.split_once(':')?;
        let place = (line.parse().ok()?, column.parse().ok()?);
        let mut found = Self { place, ..Self::default() };
        while let Some(part) = parts.next() {
            if let Some(part) = part.strip_prefix("old:") {
                let (location, first) = part.split_once('=')?;
                let value = value(first, &mut parts, 0)?;
                found.old.push((parse_location(location)?, value));
            } else if part.starts_with('@') {
                let (location, value, share) = match part.split_once('=') {
                    // Behind the elements of a sequence comes how much it is.
                    Some((location, first)) => {
                        let (value, share) = shared_value(first, &mut parts)?;
                        (location, Some(value), share)
                    }
                    None => {
                        let (location, share) = part.split_once(':')?;
                        (location, None, parse_share(share)?)
                    }
                };
                found.held.push((parse_location(location)?, share, value));
            } else {
                let (name, first) = part.split_once('=')?;
                found.variables.push((name.to_owned(), value(first, &mut parts, 0)?));
            }
        }
        Some(found)
    }
}

/// Sequences are not nested deeper than this by programs that people write.
const DEEPEST: u32 = 20;

fn value<'t>(
    first: &'t str,
    rest: &mut impl Iterator<Item = &'t str>,
    depth: u32,
) -> Option<ModelValue> {
    Some(match first {
        "true" => ModelValue::Bool(true),
        "false" => ModelValue::Bool(false),
        "null" => ModelValue::Null,
        _ => match first.split_at_checked(1)? {
            ("@", number) => ModelValue::Object(number.parse().ok()?),
            ("%", count) => {
                let count: u32 = count.parse().ok().filter(|_| depth < DEEPEST)?;
                let mut elements = Vec::new();
                for _ in 0..count {
                    elements.push(value(rest.next()?, rest, depth + 1)?);
                }
                ModelValue::Elements(elements)
            }
            _ => ModelValue::Int(first.parse().ok()?),
        },
    })
}

fn shared_value<'t>(
    first: &'t str,
    rest: &mut impl Iterator<Item = &'t str>,
) -> Option<(ModelValue, Share)> {
    if let Some((first, share)) = first.split_once(':') {
        return Some((value(first, rest, 0)?, parse_share(share)?));
    }
    // The last element has the share.
    let mut share = None;
    let mut plain = rest.map(|part| match part.split_once(':') {
        Some((part, last)) => {
            share = Some(last);
            part
        }
        None => part,
    });
    let value = value(first, &mut plain, 0)?;
    Some((value, parse_share(share?)?))
}

fn parse_location(text: &str) -> Option<Location> {
    let (object, names) = text.strip_prefix('@')?.split_once('.')?;
    let (class, name) = names.split_once('.')?;
    Some(Location { object: object.parse().ok()?, class: class.to_owned(), name: name.to_owned() })
}

fn parse_share(text: &str) -> Option<Share> {
    if text == "rd" {
        return Some(Share::Read);
    }
    let (above, below) = text.split_once('/').unwrap_or((text, "1"));
    let (above, below): (i64, i64) = (above.parse().ok()?, below.parse().ok()?);
    let is_share = 0 < above && above <= below;
    is_share.then(|| Share::Number(Rational::new(above, below)))
}

impl fmt::Display for HeadText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.place.0, self.place.1)?;
        for (name, value) in &self.variables {
            write!(f, ",{name}={}", Shown(value))?;
        }
        for (location, share, value) in &self.held {
            write!(f, ",{location}")?;
            if let Some(value) = value {
                write!(f, "={}", Shown(value))?;
            }
            match share {
                Share::Number(number) => write!(f, ":{number}")?,
                Share::Read => f.write_str(":rd")?,
            }
        }
        for (location, value) in &self.old {
            write!(f, ",old:{location}={}", Shown(value))?;
        }
        Ok(())
    }
}

/// A value as it is in such a text.
struct Shown<'v>(&'v ModelValue);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            ModelValue::Int(number) => write!(f, "{number}"),
            ModelValue::Bool(truth) => write!(f, "{truth}"),
            ModelValue::Null => f.write_str("null"),
            ModelValue::Object(number) => write!(f, "@{number}"),
            ModelValue::Elements(elements) => {
                write!(f, "%{}", elements.len())?;
                elements.iter().try_for_each(|element| write!(f, ",{}", Shown(element)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_read_back() {
        let location = |object, name: &str| Location {
            object,
            class: "Cell".to_owned(),
            name: name.to_owned(),
        };
        let elements =
            ModelValue::Elements(vec![ModelValue::Elements(Vec::new()), ModelValue::Int(-7)]);
        let state = HeadText {
            place: (16, 5),
            variables: vec![
                ("this".to_owned(), ModelValue::Object(1)),
                ("s".to_owned(), elements.clone()),
                ("b".to_owned(), ModelValue::Bool(true)),
            ],
            held: vec![
                (location(1, "x"), Share::Number(Rational::new(2, 5)), Some(ModelValue::Null)),
                (location(1, "s"), Share::Number(Rational::ONE), Some(elements)),
                (location(2, "valid"), Share::Read, None),
            ],
            old: vec![(location(1, "x"), ModelValue::Int(3))],
        };
        let text = state.to_string();
        let wanted = "16:5,this=@1,s=%2,%0,-7,b=true,@1.Cell.x=null:2/5,@1.Cell.s=%2,%0,-7:1,\
                      @2.Cell.valid:rd,old:@1.Cell.x=3";
        assert_eq!(text, wanted);
        assert_eq!(HeadText::parse(&text), Some(state));
    }

    #[test]
    fn what_is_no_state_is_refused() {
        for text in [
            "",
            "1",
            "a:1",
            "1:2,x",
            "1:2,x=",
            "1:2,x=%2,1",
            "1:2,@1.C=1:1",
            "1:2,@1.C.f=1",
            "1:2,@1.C.f=1:0",
            "1:2,@1.C.f=1:3/2",
            "1:2,@.C.f=1:1",
            "1:2,old:@1.C.f",
            "1:2,x=@",
            "1:2,x=%99999999999",
            "1:2,@1.C.f=%1,1",
        ] {
            assert_eq!(HeadText::parse(text), None, "{text}");
        }
        let deep = format!("1:2,x={}", "%1,".repeat(1000));
        assert_eq!(HeadText::parse(&deep), None);
    }
}
