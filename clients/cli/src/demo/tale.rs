//! Prints what the demo does: a line as each thing happens, and at the end a table of what was
//! checked.

use super::outside::{Paint, Progress, line, paint, table};
use serde_json::{Value, json};
use std::time::Instant;

/// The timeline and the checks.
#[derive(Debug)]
pub(crate) struct Tale {
    begun: Instant,
    json: bool,
    step: &'static str,
    checks: Vec<(&'static str, String, bool, String)>,
    progress: Progress,
}

impl Tale {
    pub(crate) fn new(steps: usize, json: bool) -> Self {
        let progress = Progress::steps("steps of the demo", steps);
        Self { begun: Instant::now(), json, step: "", checks: Vec::new(), progress }
    }

    /// A new chapter; the one before is done.
    pub(crate) fn step(&mut self, step: &'static str, title: &str) {
        if !self.step.is_empty() {
            self.progress.step();
        }
        self.step = step;
        if self.json {
            return self.emit(json!({ "event": "step", "text": title }));
        }
        self.line(&format!("\n{}", paint(Paint::Bold, title)));
    }

    /// Something happened.
    pub(crate) fn say(&self, text: &str, details: Value) {
        if self.json {
            return self.emit(json!({ "event": "happened", "text": text, "details": details }));
        }
        self.line(&format!("{} {text}", self.clock()));
    }

    /// A picture: as values for programs, and for people as `draw` draws it.
    pub(crate) fn show(&self, values: Value, draw: impl FnOnce()) {
        if self.json {
            return self.emit(json!({ "event": "shown", "details": values }));
        }
        self.progress.aside(draw);
    }

    /// Something was checked.
    pub(crate) fn check(&mut self, what: &str, ok: bool, detail: &str) {
        self.checks.push((self.step, what.to_owned(), ok, detail.to_owned()));
        if self.json {
            return self.emit(json!({ "event": "check", "check": what, "ok": ok, "detail": detail }));
        }
        let mark = if ok { paint(Paint::Green, "ok") } else { paint(Paint::Red, "FAILED") };
        self.line(&format!("{} {mark} {what}{}", self.clock(), paint(Paint::Dim, &format!("  {detail}"))));
    }

    /// The closing table; whether all checks held.
    pub(crate) fn close(&self) -> bool {
        let failed = self.checks.iter().filter(|(_, _, ok, _)| !ok).count();
        let sound = failed == 0 && !self.checks.is_empty();
        if sound {
            self.progress.step();
        }
        let seconds = self.begun.elapsed().as_secs_f64();
        if self.json {
            self.emit(json!({
                "event": "end", "ok": sound, "checks": self.checks.len(), "failed": failed, "seconds": seconds,
            }));
            return sound;
        }
        let row = |(step, what, ok, detail): &(&str, String, bool, String)| {
            let first = detail.lines().next().unwrap_or_default();
            let detail: String = first.chars().take(60).collect();
            vec![
                (*step).to_owned(),
                what.clone(),
                if *ok { "ok".into() } else { "FAILED".to_owned() },
                detail,
            ]
        };
        let rows: Vec<Vec<String>> = self.checks.iter().map(row).collect();
        self.line(&format!("\n{}", table(&["STEP", "CHECK", "", "SEEN"], &rows)));
        let verdict = format!("{} checks, {failed} failed, {seconds:.1} s", self.checks.len());
        self.line(&paint(if sound { Paint::Green } else { Paint::Red }, &verdict));
        sound
    }

    fn line(&self, text: &str) {
        self.progress.aside(|| line(text));
    }

    fn clock(&self) -> String {
        paint(Paint::Dim, &format!("{:6.2}s", self.begun.elapsed().as_secs_f64()))
    }

    fn emit(&self, mut value: Value) {
        if let Some(fields) = value.as_object_mut() {
            let at = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
            fields.insert("at_ms".into(), at.into());
            fields.insert("step".into(), self.step.into());
        }
        self.line(&value.to_string());
    }
}
