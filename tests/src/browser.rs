//! A browser without a window, driven by WebDriver (W3C, *WebDriver*, 2018).

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::clients;

/// Longer than anything takes on a busy machine, in seconds.
const PATIENCE: u64 = 120;

/// A page in a browser. Both it and its driver end with this.
pub struct Browser {
    driver: Child,
    session: String,
    profile: TempDir,
}

/// Something on the page.
pub struct Element(String);

impl Browser {
    /// Starts one, if it is installed.
    pub fn start() -> Option<Self> {
        let (driver, browser) =
            (clients::installed("chromedriver")?, clients::installed("chromium")?);
        let profile = tempfile::tempdir().expect("there is room");
        let mut driver = Command::new(driver)
            .arg("--port=0")
            .env("HOME", profile.path())
            .env("TMPDIR", profile.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the driver starts");
        let out = BufReader::new(driver.stdout.take().expect("it is a pipe"));
        let port = out.lines().map_while(Result::ok).find_map(|line| {
            let port = line.split_once("successfully on port ")?.1;
            port.trim_end_matches('.').parse::<u16>().ok()
        });
        let mut started = Self {
            driver,
            session: format!("http://127.0.0.1:{}/session", port.expect("it tells its port")),
            profile,
        };
        // The sandbox does not work for root, and shared memory is small in containers.
        let options = json!({
            "binary": browser,
            "args": ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--window-size=1400,1000"],
        });
        let capabilities = json!({
            "goog:chromeOptions": options,
            "goog:loggingPrefs": { "browser": "ALL" },
        });
        let wanted = json!({ "capabilities": { "alwaysMatch": capabilities } });
        let session = started.post("", &wanted);
        let id = session["sessionId"].as_str().expect("a session has an id");
        started.session = format!("{}/{id}", started.session);
        Some(started)
    }

    fn post(&self, command: &str, what: &Value) -> Value {
        let url = format!("{}{command}", self.session);
        let answer = minreq::post(url)
            .with_timeout(PATIENCE)
            .with_json(what)
            .and_then(minreq::Request::send)
            .unwrap_or_else(|error| panic!("{command}: {error}"));
        let mut answer: Value = answer.json().expect("it is JSON");
        let value = answer["value"].take();
        assert!(value["error"].is_null(), "{command}: {value}");
        value
    }

    /// Opens a file.
    pub fn open(&self, path: &Path) {
        self.post("/url", &json!({ "url": format!("file://{}", path.display()) }));
    }

    /// Gives the page a size, in pixels.
    pub fn resize(&self, width: u32, height: u32) {
        let size =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        let order = json!({ "cmd": "Emulation.setDeviceMetricsOverride", "params": size });
        self.post("/goog/cdp/execute", &order);
    }

    /// The first element that a selector of CSS fits.
    pub fn find(&self, selector: &str) -> Element {
        let found = self.post("/element", &json!({ "using": "css selector", "value": selector }));
        let id = found.as_object().and_then(|it| it.values().next()).and_then(Value::as_str);
        Element(id.unwrap_or_else(|| panic!("{selector} is not on the page")).to_owned())
    }

    pub fn click(&self, Element(id): &Element) {
        self.post(&format!("/element/{id}/click"), &json!({}));
    }

    /// Types into an element what somebody would, in the place of what is in it.
    pub fn write(&self, Element(id): &Element, text: &str) {
        // Select all; taking away what is selected is an input, too.
        let keys = format!("\u{e009}a\u{e000}\u{e003}{text}");
        self.post(&format!("/element/{id}/value"), &json!({ "text": keys }));
    }

    /// Runs a script, and returns its result.
    pub fn run(&self, script: &str) -> Value {
        self.post("/execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// Returns the browser's complaints since the last call: errors of scripts, and violations of
    /// the page's policy.
    pub fn complaints(&self) -> Value {
        self.post("/se/log", &json!({ "type": "browser" }))
    }

    /// A picture of the window, as PNG.
    pub fn picture(&self) -> Vec<u8> {
        use base64::Engine as _;
        let url = format!("{}/screenshot", self.session);
        let answer = minreq::get(url).with_timeout(PATIENCE).send().expect("there is a picture");
        let answer: Value = answer.json().expect("it is JSON");
        let text = answer["value"].as_str().expect("it is a text");
        base64::prelude::BASE64_STANDARD.decode(text).expect("it is base64")
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The browser ends with its session.
        let _ = minreq::delete(&self.session).with_timeout(PATIENCE).send();
        let _ = self.driver.kill();
        let _ = self.driver.wait();
        // Some of its processes end a little later, and write until then.
        for _ in 0..100 {
            if fs::remove_dir_all(self.profile.path()).is_ok() {
                break;
            }
            thread::sleep(Duration::from_millis(100));
        }
    }
}
