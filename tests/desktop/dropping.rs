//! Files and links that are dragged from another program onto the window, as the X server carries them: the page may
//! take their words, and goes nowhere. SPEC W1; cases W23, W27.

use serde_json::Value;
use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    Atom, AtomEnum, ClientMessageEvent, ConnectionExt, CreateWindowAux, EventMask, MapState, PropMode,
    SELECTION_NOTIFY_EVENT, SelectionNotifyEvent, SelectionRequestEvent, Window, WindowClass,
};
use x11rb::rust_connection::RustConnection;
use x11rb::wrapper::ConnectionExt as _;

use crate::app::{App, COMPOSER};
use crate::driver::until;

/// The version of the protocol for dragging that every toolkit speaks.
const VERSION: u32 = 5;

/// A program from which something is dragged.
struct Source {
    display: RustConnection,
    window: Window,
    /// What is dragged, by the type in which it is asked for.
    offers: Vec<(Atom, String)>,
}

impl Source {
    fn new(offers: &[(&str, &str)]) -> Self {
        let (display, screen) = RustConnection::connect(None).unwrap();
        let window = display.generate_id().unwrap();
        let root = display.setup().roots[screen].root;
        let kind = WindowClass::INPUT_ONLY;
        let looks = CreateWindowAux::new().event_mask(EventMask::PROPERTY_CHANGE);
        display
            .create_window(0, window, root, -9, -9, 1, 1, 0, kind, 0, &looks)
            .unwrap();
        let offers = offers
            .iter()
            .map(|(kind, text)| (atom(&display, kind), (*text).to_owned()))
            .collect();
        let source = Self {
            display,
            window,
            offers,
        };
        let selection = source.atom("XdndSelection");
        source
            .display
            .set_selection_owner(window, selection, 0_u32)
            .unwrap();
        source
    }

    fn atom(&self, name: &str) -> Atom {
        atom(&self.display, name)
    }

    fn send(&self, to: Window, kind: &str, data: [u32; 5]) {
        let event = ClientMessageEvent::new(32, to, self.atom(kind), data);
        self.display
            .send_event(false, to, EventMask::NO_EVENT, event)
            .unwrap()
            .check()
            .unwrap();
    }

    /// Answers what the window asks for; whether it has said that of what was dragged.
    fn hears(&self, wanted: &str) -> Option<[u32; 5]> {
        let wanted = self.atom(wanted);
        let mut heard = None;
        while let Some(event) = self.display.poll_for_event().unwrap() {
            match event {
                Event::SelectionRequest(asked) => self.give(asked),
                Event::ClientMessage(said) if said.type_ == wanted => heard = Some(said.data.as_data32()),
                _ => {}
            }
        }
        self.display.flush().unwrap();
        heard
    }

    fn give(&self, asked: SelectionRequestEvent) {
        let offered = self.offers.iter().find(|(kind, _)| *kind == asked.target);
        if let Some((kind, text)) = offered {
            let (window, property) = (asked.requestor, asked.property);
            self.display
                .change_property8(PropMode::REPLACE, window, property, *kind, text.as_bytes())
                .unwrap();
        }
        let answer = SelectionNotifyEvent {
            response_type: SELECTION_NOTIFY_EVENT,
            sequence: 0,
            time: asked.time,
            requestor: asked.requestor,
            selection: asked.selection,
            target: asked.target,
            property: offered.map_or(x11rb::NONE, |_| asked.property),
        };
        self.display
            .send_event(false, asked.requestor, EventMask::NO_EVENT, answer)
            .unwrap();
    }

    /// Drags over the window to a place in it, and lets go there.
    fn drop_onto(&self, window: Window, (x, y): (u32, u32)) {
        let root = self.display.get_geometry(window).unwrap().reply().unwrap().root;
        let at = self
            .display
            .translate_coordinates(window, root, 0, 0)
            .unwrap()
            .reply()
            .unwrap();
        let place = |x: u32, y: u32| {
            (x + u32::from(at.dst_x.cast_unsigned())) << 16 | (y + u32::from(at.dst_y.cast_unsigned()))
        };
        let kinds: Vec<Atom> = self.offers.iter().map(|(kind, _)| *kind).collect();
        let kind = |n: usize| kinds.get(n).copied().unwrap_or(x11rb::NONE);
        self.send(
            window,
            "XdndEnter",
            [self.window, VERSION << 24, kind(0), kind(1), kind(2)],
        );
        let copy = self.atom("XdndActionCopy");
        let mut step = 0;
        until("the window's word on what is dragged", || {
            step += 1;
            self.send(
                window,
                "XdndPosition",
                [self.window, 0, place(x + step % 2, y), 0, copy],
            );
            match self.hears("XdndStatus") {
                // Twice over the same place at least: data are only asked for once it is over something.
                Some(data) if step > 8 => Ok(data),
                other => Err(format!("{other:?}")),
            }
        });
        self.send(window, "XdndDrop", [self.window, 0, 0, 0, 0]);
        until("the end of the drop", || {
            self.hears("XdndFinished")
                .map(drop)
                .ok_or_else(|| "nothing was said".to_owned())
        });
    }
}

fn atom(display: &RustConnection, name: &str) -> Atom {
    let asked = display.intern_atom(false, name.as_bytes()).unwrap();
    asked.reply().unwrap().atom
}

/// The window of a process that is shown and takes what is dragged.
fn target(display: &RustConnection, pid: u32) -> Window {
    let owner_of = atom(display, "_NET_WM_PID");
    until("a window", || {
        let root = display.setup().roots[0].root;
        let all = display.query_tree(root).unwrap().reply().unwrap().children;
        let is_wanted = |window: &Window| {
            let found = display
                .get_property(false, *window, owner_of, AtomEnum::CARDINAL, 0, 1)
                .unwrap()
                .reply();
            let shown = display.get_window_attributes(*window).unwrap().reply();
            found.ok().and_then(|found| found.value32()?.next()) == Some(pid)
                && shown.is_ok_and(|shown| shown.map_state == MapState::VIEWABLE)
        };
        all.into_iter()
            .find(is_wanted)
            .ok_or_else(|| "no window".to_owned())
    })
}

#[test]
fn w23_w27_what_is_dropped_onto_the_window_takes_it_nowhere() {
    let app = App::start(
        &[("page.html", "<script>document.title = 'gone'</script>")],
        vec![],
    );
    app.driver.wait_for(COMPOSER);
    // What is lost when another page comes, and what tells that something was dragged here.
    app.driver.run(
        "window.stays = 1; window.dragged = []; for (const kind of ['dragenter', 'drop']) \
         addEventListener(kind, (event) => window.dragged.push(kind + ' ' + [...event.dataTransfer.types].join()), true);",
    );
    let before = app.driver.run("return location.href");
    let file = format!("file://{}\r\n", app.project.root().join("page.html").display());
    let link = "https://evil.example/\r\n";
    let pid = app.pid();
    for (what, offers) in [
        ("a file", vec![("text/uri-list", file.as_str())]),
        ("a link", vec![("text/uri-list", link), ("text/plain", link)]),
        (
            "a link of a browser",
            vec![
                ("text/x-moz-url", link),
                ("_NETSCAPE_URL", link),
                ("text/uri-list", link),
            ],
        ),
        (
            "a script",
            vec![
                ("text/uri-list", "javascript:window.stays=2\r\n"),
                ("text/html", "<img src=x onerror=window.stays=3>"),
            ],
        ),
    ] {
        for place in [(500, 300), (500, 40)] {
            let source = Source::new(&offers);
            let window = target(&source.display, pid);
            source.drop_onto(window, place);
        }
        let now = app
            .driver
            .run("return [location.href, window.stays, document.title === 'gone']");
        assert_eq!(now, serde_json::json!([before, 1, false]), "{what}");
        assert_eq!(app.driver.windows().len(), 1, "{what} opened a window");
    }
    let dragged = app.driver.run("return window.dragged");
    let dragged: Vec<&str> = dragged
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    assert!(
        dragged
            .iter()
            .any(|event| event.contains("dragenter") || event.contains("drop")),
        "it was dragged over the page: {dragged:?}"
    );
}
