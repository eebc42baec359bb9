/// How deep a place of a text is nested, before there is a tree: a generated parser recurses once
/// or more for every bracket, so a limit has to hold before it starts.
///
/// Besides brackets, words and symbols that begin something open-ended nest what follows them,
/// until the language says that all of that has ended.
#[derive(Debug, Default)]
pub struct Nesting {
    /// For each open bracket, how much nested before it within the brackets around it.
    outer: Vec<usize>,
    /// How much nests since the innermost bracket.
    inner: usize,
    depth: usize,
}

impl Nesting {
    /// Returns how many brackets are open, and how much else nests the place.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// A bracket opens.
    pub fn open(&mut self) {
        self.outer.push(std::mem::take(&mut self.inner));
        self.depth += 1;
    }

    /// A bracket closes, and what nests inside of it ends. One that has not been opened changes
    /// nothing.
    pub fn close(&mut self) {
        if let Some(outer) = self.outer.pop() {
            self.depth -= self.inner + 1;
            self.inner = outer;
        }
    }

    /// Something open-ended begins.
    pub fn deepen(&mut self) {
        self.inner += 1;
        self.depth += 1;
    }

    /// Ends all open-ended nesting inside the innermost bracket.
    pub fn begin_anew(&mut self) {
        self.depth -= std::mem::take(&mut self.inner);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_end_what_nests_in_them() {
        let mut nesting = Nesting::default();
        nesting.deepen();
        nesting.open();
        nesting.deepen();
        nesting.deepen();
        assert_eq!(nesting.depth(), 4);
        nesting.close();
        assert_eq!(nesting.depth(), 1);
        nesting.begin_anew();
        nesting.close();
        assert_eq!(nesting.depth(), 0);
    }
}
