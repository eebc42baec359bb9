//! The texts of theories (`*.theory`), read as nested lists. A comment goes from `;` to the end of
//! its line.

/// A word, or a list of forms.
pub(super) enum Form {
    Word(&'static str),
    /// `(…)`
    List(Vec<Form>),
    /// `{…}`: the terms of a trigger.
    Trigger(Vec<Form>),
}

/// Reads the forms of a text, which is part of the program: an error in the text is a panic.
pub(super) fn read(text: &'static str) -> Vec<Form> {
    let mut open = vec![Vec::new()];
    for line in text.lines() {
        let mut rest = line.split_once(';').map_or(line, |(before, _)| before).trim_start();
        while !rest.is_empty() {
            let end = rest.find(|c: char| c.is_whitespace() || "(){}".contains(c));
            let (token, after) = rest.split_at(end.unwrap_or(rest.len()).max(1));
            match token {
                "(" | "{" => open.push(Vec::new()),
                ")" | "}" => {
                    let forms = open.pop().expect("pushed at the opening bracket");
                    let is_list = token == ")";
                    let form = if is_list { Form::List(forms) } else { Form::Trigger(forms) };
                    open.last_mut().expect("brackets match").push(form);
                }
                word => open.last_mut().expect("brackets match").push(Form::Word(word)),
            }
            rest = after.trim_start();
        }
    }
    let [forms] = open.try_into().ok().expect("brackets match");
    forms
}

impl Form {
    pub(super) fn word(&self) -> &'static str {
        let Form::Word(word) = self else { panic!("a list where a word is due") };
        word
    }

    pub(super) fn list(&self) -> &[Form] {
        let Form::List(forms) = self else { panic!("no list where one is due") };
        forms
    }
}
