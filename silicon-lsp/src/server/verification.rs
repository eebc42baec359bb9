//! When documents are verified, and what the worker says.

use std::time::Instant;

use lsp_types::{MessageType, ShowMessageParams};
use serde_json::json;

use super::states::{Asked, Unanswered};
use super::viper::Told;
use super::{Busy, OFTEN, PATIENCE, Server};
use crate::document::Run;
use crate::protocol::{Event, Order};
use crate::verifier::Verifier;

impl Server<'_> {
    /// Has a document verified, not before `time`.
    pub(super) fn want(&mut self, uri: &str, time: Instant) {
        self.wanted.retain(|(_, other)| other != uri);
        self.wanted.push_back((time, uri.to_owned()));
    }

    pub(super) fn next_time(&self) -> Option<Instant> {
        let of_work = match &self.busy {
            Some(busy) => busy.until,
            None => self.wanted.iter().map(|(time, _)| *time).min(),
        };
        let of_states = self.asked.as_ref().and_then(|asked| asked.until);
        let of_fixes = self.fixing.as_ref().map(|fixing| fixing.until);
        let of_news = self.news.as_ref().map(|(until, _)| *until);
        of_work.into_iter().chain(of_states).chain(of_fixes).chain(of_news).min()
    }

    /// Gives the worker something to do, if it has nothing, and it is time.
    pub(super) fn begin(&mut self) -> anyhow::Result<()> {
        let now = Instant::now();
        let due = |(time, _): &(Instant, String)| *time <= now;
        while self.busy.is_none()
            && let Some(position) = self.wanted.iter().position(due)
            && let Some((_, uri)) = self.wanted.remove(position)
        {
            let job = self.next_number();
            let Some(document) = self.documents.get_mut(&uri) else { continue };
            if document.current().is_some_and(|analysis| !analysis.is_program) {
                continue;
            }
            let run = document.run.take().filter(|run| !run.is_stopped).unwrap_or_default();
            let run = document.run.insert(run);
            run.job = job;
            let Some(order) = document.job(job) else { continue };
            match self.verifier() {
                Ok(verifier) => {
                    verifier.tell(&Order::Verify(order));
                    self.busy = Some(Busy { job, uri, until: None, has_progress: false });
                }
                Err(why) => {
                    if let Some(run) = self.run_of(&uri) {
                        run.fail(why);
                    }
                    self.tell_failure(&uri)?;
                }
            }
        }
        Ok(())
    }

    /// Returns the worker, which is started where there is none.
    ///
    /// # Errors
    /// Why it cannot be started, for the user.
    pub(super) fn verifier(&mut self) -> Result<&mut Verifier, String> {
        if self.verifier.is_none() {
            let number = self.next_number();
            let started = Verifier::start(&self.setup, number, self.heard.0.clone());
            let started = started
                .map_err(|why| format!("the process that verifies does not start: {why}"))?;
            self.verifier = Some(started);
        }
        self.verifier.as_mut().ok_or_else(|| "there is no process that verifies".to_owned())
    }

    fn run_of(&mut self, uri: &str) -> Option<&mut Run> {
        self.documents.get_mut(uri).and_then(|document| document.run.as_mut())
    }

    /// Shows that a document is not verified any more, and why.
    fn tell_failure(&mut self, uri: &str) -> anyhow::Result<()> {
        let Some(document) = self.documents.get(uri) else { return Ok(()) };
        if let Some(why) = document.run.as_ref().and_then(Run::failure) {
            let message = format!("{} is not verified: {why}", document.name);
            let parameters = ShowMessageParams { typ: MessageType::ERROR, message };
            let why = why.to_owned();
            self.notify("window/showMessage", parameters)?;
            self.show(uri)?;
            return self.fail_followed(uri, &why);
        }
        self.show(uri)
    }

    /// Drops everything that is known, or being found out, about the present version.
    pub(super) fn cancel(&mut self, uri: &str) -> anyhow::Result<()> {
        self.end_followed(uri, None)?;
        self.leave_run(uri)
    }

    /// Drops the run of a document that is wanted or goes on.
    pub(super) fn leave_run(&mut self, uri: &str) -> anyhow::Result<()> {
        self.wanted.retain(|(_, other)| other != uri);
        let job = self.busy.as_ref().filter(|busy| busy.uri == uri).map(|busy| busy.job);
        job.map_or(Ok(()), |job| self.cancel_job(job))
    }

    /// Stops a job, if the worker is busy with it.
    pub(super) fn cancel_job(&mut self, job: u64) -> anyhow::Result<()> {
        let Some(busy) = self.busy.as_mut().filter(|busy| busy.job == job) else { return Ok(()) };
        if busy.until.is_none() {
            busy.until = Some(Instant::now() + PATIENCE);
            if let Some(verifier) = &mut self.verifier {
                verifier.tell(&Order::Cancel(job));
            }
            self.end_progress()?;
        }
        Ok(())
    }

    /// Stops the verification of a document that is not edited. What is known stays.
    pub(super) fn stop(&mut self, uri: &str) -> anyhow::Result<()> {
        self.cancel(uri)?;
        if let Some(run) = self.run_of(uri).filter(|run| !run.is_complete()) {
            run.stop();
        }
        self.show(uri)
    }

    pub(super) fn end_overdue(&mut self) -> anyhow::Result<()> {
        let now = Instant::now();
        if self.news.as_ref().is_some_and(|(until, _)| *until <= now) {
            self.show_news()?;
        }
        let is_overdue = |busy: &Busy| busy.until.is_some_and(|until| until <= now);
        if self.busy.as_ref().is_some_and(is_overdue) {
            self.verifier = None;
            self.busy = None;
        }
        if self.fixing.as_ref().is_some_and(|fixing| fixing.until <= now) {
            self.leave_fixes()?;
        }
        let is_late = |asked: &Asked| asked.until.is_some_and(|until| until <= now);
        if self.asked.as_ref().is_some_and(is_late) {
            self.leave_states(Unanswered::TooLate)?;
        }
        Ok(())
    }

    pub(super) fn hear(&mut self, event: Event) -> anyhow::Result<()> {
        let Some(busy) = self.busy.as_mut().filter(|busy| busy.job == event.job()) else {
            return Ok(());
        };
        let uri = busy.uri.clone();
        if let Event::Tried { job, judged } = event {
            self.busy = None;
            return self.hear_fixes(job, &judged);
        }
        let is_done = matches!(event, Event::Done { .. });
        let begins = matches!(event, Event::Started { .. })
            && self.has_progress
            && !busy.has_progress
            && busy.until.is_none();
        let (job, matters) = (busy.job, matches!(event, Event::Finished { .. }));
        if begins {
            busy.has_progress = true;
            let token = token_of(job);
            self.ask("window/workDoneProgress/create", json!({ "token": token }))?;
            let value = json!({ "kind": "begin", "title": "verifying", "cancellable": true });
            self.notify("$/progress", json!({ "token": token, "value": value }))?;
        }
        if is_done {
            self.end_progress()?;
            self.busy = None;
        }
        let told = Told::of(&event);
        // An edit takes the run away.
        if let Some(run) = self.run_of(&uri).filter(|run| run.job == job) {
            run.hear(event);
            if is_done {
                self.show(&uri)?;
            } else if matters && self.news.is_none() {
                self.news = Some((Instant::now() + OFTEN, uri.clone()));
            }
            if let Some(told) = told {
                self.viper_hear(&uri, &told)?;
            }
        }
        Ok(())
    }

    /// Shows what the worker has said of a document in the last moments.
    fn show_news(&mut self) -> anyhow::Result<()> {
        let Some((_, uri)) = self.news.take() else { return Ok(()) };
        let busy = self.busy.as_ref().filter(|busy| busy.uri == uri && busy.has_progress);
        if let Some(job) = busy.map(|busy| busy.job)
            && let Some(run) = self.run_of(&uri)
        {
            let (done, all) = run.progress();
            let percentage = (done * 100).checked_div(all).unwrap_or(0);
            let words = format!("{done} of {all} members");
            let value = json!({ "kind": "report", "message": words, "percentage": percentage });
            self.notify("$/progress", json!({ "token": token_of(job), "value": value }))?;
        }
        self.show(&uri)
    }

    fn end_progress(&mut self) -> anyhow::Result<()> {
        if let Some(busy) = self.busy.as_mut().filter(|busy| busy.has_progress) {
            busy.has_progress = false;
            let token = token_of(busy.job);
            self.notify("$/progress", json!({ "token": token, "value": { "kind": "end" } }))?;
        }
        Ok(())
    }

    /// The worker has ended: what it was doing is done again by another one.
    pub(super) fn lost(&mut self) -> anyhow::Result<()> {
        self.verifier = None;
        self.end_progress()?;
        let Some(busy) = self.busy.take() else { return Ok(()) };
        self.leave_fixes()?;
        if let Some(run) = self.run_of(&busy.uri).filter(|run| run.job == busy.job) {
            run.interrupted();
            if run.failure().is_some() {
                return self.tell_failure(&busy.uri);
            }
            self.show(&busy.uri)?;
            self.want(&busy.uri, Instant::now());
        }
        Ok(())
    }
}

pub(super) fn token_of(job: u64) -> String {
    format!("silicon/{job}")
}
